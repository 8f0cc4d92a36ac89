/** Categories by the words in a function's name, for names that no rule of a library knows better. */

import type { KernelCategory } from "./reading.ts";

/**
 * Words in lower case with underscores; one with an underscore at its side begins or ends there. The first
 * row with a word of the name decides: what names an operation as a whole stands before its parts.
 */
const ROWS: readonly [KernelCategory, string][] = [
  ["memory", "memset memcpy"],
  ["other", "selective_scan chunk_scan chunk_state state_passing spin_"],
  [
    "collective",
    "all_reduce allreduce all_gather allgather reduce_scatter reducescatter all_to_all",
  ],
  ["collective", "alltoall cross_device_reduce nvshmem multimem lamport userbuffers"],
  ["elementwise", "rotary_embedding rotary_pos_embedding upsampl interpolat"],
  ["reduction", "max_pool avg_pool average_pool pooling"],
  ["embedding", "embedding"],
  ["optimizer", "optimizer adam _sgd lamb_ adagrad rmsprop adadelta adamax novograd _lion_ muon_"],
  ["reduction", "l2norm l2_norm lp_norm norm_two norm_one"],
  ["attention", "batch_prefill batch_decode single_prefill single_decode mqa_logits delta_rule"],
  [
    "attention",
    "linear_attn lightning_attention fused_recurrent merge_state merge_attn flash_fwd flash_bwd",
  ],
  [
    "routing",
    "moe_fused_gate fused_moe_gate fused_moe_rout moe_align align_block moe_sum topk_gating",
  ],
  [
    "gemm",
    "fused_moe fmoe_ moe_gemm moe_wna16 moe_mmk moe_mx weight_only lora_shrink lora_expand sgmv bgmv w4a16 w4a8 router_gemm matmul_ogs grouped_gemm group_gemm",
  ],
  [
    "routing",
    "_moe_ gating expert router routing ep_scatter ep_gather ep_dispatch ep_combine bitmatrix",
  ],
  [
    "routing",
    "expt_data expand_input_rows topk_softmax topk_sigmoid topk_gate topk_forward topk_backward grouped_topk deepseek_v3_topk",
  ],
  ["routing", "grouped_top_k unpermute permute_tok shuffle_mul_sum finalize_matmul"],
  [
    "sampling",
    "sampling _sample logits penalt topk_topp top_k_top_p top_p topp_ min_p_ multinomial",
  ],
  ["sampling", "bitmask speculative eagle verify_tree build_tree gumbel reject"],
  ["elementwise", "_normal_ normal_and lognormal normalize_"],
  ["normalization", "norm bn_fw bn_bw gn_fw gn_bw ln_fw ln_bw gn_cuda welford moments gamma_beta"],
  [
    "normalization",
    "compute_internal_gradients compute_fused_params compute_backward_fused compute_grad_input",
  ],
  ["elementwise", "rotary rope_ _rope _ro_pe _mrope"],
  [
    "memory",
    "kv_cache kvcache and_cache cache_kernel copy_blocks swap_blocks kv_buffer kv_indices kv_pool kv_blocks",
  ],
  ["memory", "req_to_token page_indices page_table gather_cache concat_mla repack"],
  [
    "attention",
    "attn attention fmha _mha_ _gqa_ _mqa_ _mla_ _pa_ sdpa sage_fwd flash_mla flash_decod kda_",
  ],
  [
    "quantization",
    "quant cvt_ to_fp4 to_fp8 to_mxfp to_nvfp cast_fp8 fp8_cast fp8_convert cast_mx",
  ],
  ["quantization", "cast_transpose hadamard downcast"],
  ["softmax", "softmax soft_max logsumexp log_sum_exp"],
  [
    "gemm",
    "gemm gemv matmul mat_mul mul_mat _mm_ _bmm_ addmm marlin machete split_kreduce splitk_reduce",
  ],
  [
    "gemm",
    "split_k_reduce cijk_ wvsplitk wv_splitk wv_split_k dot_kernel trsm linear_fwd linear_bwd",
  ],
  ["convolution", "_conv_ conv1d conv2d conv3d convol _conv1 _conv2 _conv3 winograd wgrad dgrad"],
  ["convolution", "im2col col2im vol2col col2vol conv_depthwise"],
  ["reduction", "histogram"],
  [
    "sort-and-scan",
    "sort scan cum_sum topk top_k radix cumsum cumprod _unique searchsorted bucketize kth_ nonzero",
  ],
  [
    "sort-and-scan",
    "partition select_if select_sweep compact_init merge_path mergepath block_merge bitonic median",
  ],
  ["reduction", "_reduce"],
  [
    "memory",
    "copy fill transpos permut concat _cat_ gather scatter index_put index_select index_copy",
  ],
  [
    "memory",
    "index_elementwise indexing_backward index_backward index_add index_func reformat nchw nhwc",
  ],
  [
    "memory",
    "_pad_ _pad1 _pad2 _pad3 padding _pack slice _stack_ _roll_ flip_ transfer tril triu _store_ shuffle_row",
  ],
  ["memory", "pixel_shuffle pixel_unshuffle channel_shuffle"],
  ["reduction", "reduc _sum_ _mean_ _max_ _min_ amax absmax _count_ _pool pooling"],
  [
    "elementwise",
    "elementwise pointwise transform for_each foreach _add_ _mul_ multiply _div_ _sub_ _pow_",
  ],
  [
    "elementwise",
    "_exp_ _log_ sqrt where_ _cast_ convert scale scal_ axpy axpby bias _act_ clamp range",
  ],
  [
    "elementwise",
    "uniform random distribution lerp mask activation gelu silu relu swiglu geglu sigmoid tanh",
  ],
  ["elementwise", "dropout tensor_op loss cross_entropy"],
];

const WORDS = ROWS.map(([category, words]) => ({ category, words: words.split(" ") }));

/** The category that the name's words tell; `undefined` if they tell none. */
export function categoryOf(name: string): KernelCategory | undefined {
  const snake = `_${name.replace(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|\W+/g, "_")}_`
    .toLowerCase();
  return WORDS.find(({ words }) => words.some((word) => snake.includes(word)))?.category;
}
