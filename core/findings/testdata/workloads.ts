/** Healthy workloads of each kind, to plant a fault in: noise alone must give no finding. */

import type { DeviceLoad, EngineLoad, HostLoad, Load, ProcessLoad, WorkLoad } from "./load.ts";

/** Symbols as drivers report them, with the work they do. */
export const SYMBOLS = {
  gemm: "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
  gemm_wide: "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN",
  gemm_ampere: "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_nn",
  gemm_single: "ampere_sgemm_128x64_tn",
  gemm_amd: "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN.kd",
  gemm_amd_single: "Cijk_Alik_Bljk_SB_Bias_HA_S_SAV_UserArgs_MT128x128x16_MI16x16x1_SN.kd",
  attention:
    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_0",
  attention_flash2:
    "_ZN5flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi128ELi128ELi64ELi4ELb0ELb0EN7cutlass10bfloat16_tE19Flash_kernel_traitsILi128ELi128ELi64ELi4ES3_EELb0ELb1ELb0ELb0ELb0ELb1ELb0ELb0EEEvNS_16Flash_fwd_paramsE",
  attention_fallback:
    "_Z41fmha_cutlassF_bf16_aligned_64x128_rf_sm80N22PyTorchMemEffAttention15AttentionKernelIN7cutlass10bfloat16_tENS0_4arch4Sm80ELb1ELi64ELi128ELi128ELb1ELb1EE6ParamsE",
  fused: "triton_poi_fused_mul_silu_2",
  add:
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
  mul:
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEESt5arrayIPcLm3EEEEviT0_T1_",
  reduce: "_Z40ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE",
  own: "_Z15scan_sequentialPKfPfii",
} as const;

/** Work of a name: share of the time, microseconds of one. */
export function work(name: string, share: number, microseconds: number): WorkLoad {
  return { name, share, seconds: microseconds * 1e-6 };
}

/** Gauges of an H100 that trains at full speed. */
const H100_GAUGES = {
  utilization_percent: 99,
  sm_utilization_percent: 92,
  sm_occupancy_percent: 22,
  tensor_utilization_percent: 58,
  dram_bandwidth_utilization_percent: 38,
  fp32_utilization_percent: 6,
  memory_used_bytes: 61e9,
  memory_total_bytes: 85.5e9,
  temperature_celsius: 58,
  power_usage_watts: 640,
  power_management_limit_watts: 700,
  clock_sm_megahertz: 1950,
  max_clock_sm_megahertz: 1980,
  pcie_link_generation: 5,
  pcie_link_width: 16,
  nvlink_link_count: 18,
  nvlink_active_links: 18,
} as const;

/** An H100 that trains. */
export function h100(more: Partial<DeviceLoad> = {}): DeviceLoad {
  const { gauges, attributes, ...rest } = more;
  return {
    name: "NVIDIA H100 80GB HBM3",
    pid: 100,
    kernels: [
      work(SYMBOLS.gemm, 0.42, 900),
      work(SYMBOLS.gemm_wide, 0.22, 860),
      work(SYMBOLS.attention, 0.2, 600),
      work(SYMBOLS.fused, 0.13, 170),
    ],
    copies: [{ kind: "host_to_device", share: 0.001, bytes: 2.6e5, bytes_per_second: 19e9 }],
    waits: [{ name: "stream", per_second: 2, share: 0.8 }],
    counters: {
      ecc_errors_corrected_volatile: 0,
      ecc_errors_uncorrected_volatile: 0,
      xid_critical_errors: 0,
    },
    throttled: { sw_power_cap: 0.02 },
    ...rest,
    gauges: { ...H100_GAUGES, ...gauges },
    attributes: {
      "device.compute_capability": "9.0",
      "device.default_power_limit_watts": "700",
      "device.pcie_max_generation": "5",
      "device.pcie_max_width": "16",
      ...attributes,
    },
  };
}

/** An A100, whose driver tells no shares of its units. */
export function a100(more: Partial<DeviceLoad> = {}): DeviceLoad {
  const { gauges, attributes, ...rest } = more;
  return {
    name: "NVIDIA A100-SXM4-80GB",
    pid: 100,
    kernels: [
      work(SYMBOLS.gemm_ampere, 0.66, 2000),
      work(SYMBOLS.attention_flash2, 0.18, 900),
      work(SYMBOLS.fused, 0.13, 300),
    ],
    waits: [{ name: "stream", per_second: 2, share: 0.8 }],
    throttled: { sw_power_cap: 0.05 },
    ...rest,
    gauges: {
      utilization_percent: 98,
      memory_used_bytes: 50e9,
      memory_total_bytes: 85.9e9,
      temperature_celsius: 56,
      power_usage_watts: 370,
      power_management_limit_watts: 400,
      clock_sm_megahertz: 1395,
      max_clock_sm_megahertz: 1410,
      pcie_link_generation: 4,
      pcie_link_width: 16,
      ...gauges,
    },
    attributes: {
      "device.compute_capability": "8.0",
      "device.default_power_limit_watts": "400",
      "device.pcie_max_generation": "4",
      "device.pcie_max_width": "16",
      ...attributes,
    },
  };
}

/** An MI300X that trains. */
export function mi300x(more: Partial<DeviceLoad> = {}): DeviceLoad {
  return {
    name: "AMD Instinct MI300X",
    source: "rocm",
    pid: 100,
    kernels: [work(SYMBOLS.gemm_amd, 0.78, 1500), work(SYMBOLS.fused, 0.19, 200)],
    waits: [{ name: "stream", per_second: 2, share: 0.8 }],
    gauges: {
      utilization_percent: 98,
      memory_used_bytes: 90e9,
      memory_total_bytes: 206e9,
      power_usage_watts: 700,
      power_management_limit_watts: 750,
    },
    attributes: {
      "device.peak_memory_gigabytes_per_second": "5300",
      "device.peak_fp32_teraflops": "163.4",
      "device.peak_bf16_teraflops": "1307.4",
    },
    ...more,
  };
}

/** The process that feeds the devices. */
export function trainer(more: Partial<ProcessLoad> = {}): ProcessLoad {
  return { pid: 100, command: "python train.py", cpus: 0.9, ...more };
}

/** A host with room. */
export const HOST: HostLoad = { cpus: 64 };

/** A training run that is as fast as its device. */
export function training(more: Partial<Load> = {}): Load {
  return {
    command: "python train.py --bf16",
    tags: { "host.name": "a" },
    devices: [h100()],
    processes: [trainer()],
    host: HOST,
    ...more,
  };
}

/** An H100 that decodes at the roofline of its memory. */
export function decoder(more: Partial<DeviceLoad> = {}): DeviceLoad {
  const { gauges, ...rest } = more;
  return h100({
    kernels: [work(SYMBOLS.gemm, 0.06, 12)],
    graphs: [{ name: "7c1f0a92d3be4471", share: 0.9, seconds: 0.011 }],
    copies: [{ kind: "device_to_host", share: 1e-5, bytes: 128, bytes_per_second: 1e8 }],
    waits: [{ name: "event", per_second: 85, share: 0.88 }],
    ...rest,
    gauges: {
      tensor_utilization_percent: 18,
      dram_bandwidth_utilization_percent: 82,
      memory_used_bytes: 78e9,
      ...gauges,
    },
  });
}

/** Metrics of a vLLM engine with a steady load and no queue. */
export function vllm(more: EngineLoad = {}): EngineLoad {
  const tags = { model_name: "m", engine: "0" };
  return {
    tags,
    gauges: {
      "vllm:num_requests_running": 40,
      "vllm:num_requests_waiting": 0,
      "vllm:kv_cache_usage_perc": 0.35,
      ...more.gauges,
    },
    counters: {
      "vllm:num_preemptions_total": 0,
      "vllm:prompt_tokens_total": 6000,
      "vllm:generation_tokens_total": 3480,
      "vllm:prefix_cache_queries_total": 6000,
      "vllm:prefix_cache_hits_total": 1800,
      ...more.counters,
    },
    histograms: {
      "vllm:request_queue_time_seconds": [8.7, 0.004],
      "vllm:request_prefill_time_seconds": [8.7, 0.08],
      "vllm:time_to_first_token_seconds": [8.7, 0.09],
      "vllm:inter_token_latency_seconds": [3480, 0.0115],
      "vllm:e2e_request_latency_seconds": [8.7, 4.7],
      ...more.histograms,
    },
    ...(more.configuration && { configuration: more.configuration }),
  };
}

/** An inference server that is as fast as its device. */
export function serving(more: Partial<Load> = {}): Load {
  return {
    command: "vllm serve m --port 8000",
    tags: { "host.name": "a" },
    devices: [decoder()],
    processes: [
      { pid: 90, command: "vllm serve m --port 8000", cpus: 0.35 },
      { pid: 100, parent: 90, command: "VLLM::EngineCore", cpus: 0.95 },
    ],
    host: HOST,
    engine: vllm(),
    ...more,
  };
}
