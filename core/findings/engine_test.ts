/** Engines: what holds requests back, by each engine's own names. */

import { testFindings } from "./testdata/judged.ts";
import type { EngineLoad, Load } from "./testdata/load.ts";
import { decoder, serving, SYMBOLS, vllm, work } from "./testdata/workloads.ts";

const engine = { class: "engine" } as const;

/** Requests that wait, and how long, for as many as finish: they agree by Little's law. */
function queued(waiting: number, more: EngineLoad = {}): EngineLoad {
  const seconds = waiting / 8.7;
  return vllm({
    ...more,
    gauges: { "vllm:num_requests_waiting": waiting, ...more.gauges },
    histograms: {
      "vllm:request_queue_time_seconds": [8.7, seconds],
      "vllm:time_to_first_token_seconds": [8.7, seconds + 0.09],
      "vllm:e2e_request_latency_seconds": [8.7, seconds + 4.7],
      ...more.histograms,
    },
  });
}

/** Requests in the batch go up and down: no limit holds them. */
function varying(step: number): Load {
  const running = 36 + 4 * (step % 3);
  return serving({ engine: queued(52, { gauges: { "vllm:num_requests_running": running } }) });
}

const roomy = decoder({ gauges: { memory_used_bytes: 50e9 } });
const full = queued(60, {
  gauges: { "vllm:kv_cache_usage_perc": 0.985 },
  counters: { "vllm:num_preemptions_total": 1.2 },
});

/** The gauges that SGLang, llama.cpp and TGI have under other names. */
const sglang: EngineLoad = {
  tags: { model_name: "m", tp_rank: "0" },
  gauges: {
    "sglang:num_running_reqs": 16,
    "sglang:num_queue_reqs": 50,
    "sglang:token_usage": 0.08,
  },
  counters: { "sglang:prompt_tokens_total": 4000, "sglang:generation_tokens_total": 1400 },
  histograms: {
    "sglang:queue_time_seconds": [4, 12.5],
    "sglang:time_to_first_token_seconds": [4, 12.6],
    "sglang:e2e_request_latency_seconds": [4, 16.6],
    "sglang:inter_token_latency_seconds": [1400, 0.0115],
  },
};
const llama: EngineLoad = {
  gauges: {
    "llamacpp:requests_processing": 2,
    "llamacpp:requests_deferred": 9,
    "llamacpp:kv_cache_usage_ratio": 0.3,
  },
  counters: { "llamacpp:tokens_predicted_total": 160 },
};
const tgi: EngineLoad = {
  gauges: { tgi_batch_current_size: 32, tgi_queue_size: 60 },
  counters: { tgi_request_success: 6 },
  histograms: { tgi_request_queue_duration: [6, 10], tgi_request_duration: [6, 15] },
};

const prompts = vllm({
  counters: { "vllm:prompt_tokens_total": 40_000, "vllm:prefix_cache_hits_total": 0 },
  histograms: {
    "vllm:time_to_first_token_seconds": [8.7, 3],
    "vllm:e2e_request_latency_seconds": [8.7, 6],
  },
});

testFindings({
  "a full cache beside free memory": {
    load: serving({
      command: "vllm serve m --gpu-memory-utilization 0.6",
      devices: [roomy],
      engine: full,
    }),
    ...engine,
    id: "engine/cache_full",
    stake: [0.5, 0.7],
    title: /preempted.*GB of each device are unused \(--gpu-memory-utilization 0.6\)/,
  },
  "preemptions, though between them the cache is not quite full": {
    load: serving({
      engine: queued(60, {
        gauges: { "vllm:kv_cache_usage_perc": 0.86 },
        counters: { "vllm:num_preemptions_total": 0.5 },
      }),
    }),
    ...engine,
    id: "engine/cache_full",
    stake: [0.5, 0.7],
  },
  "a limit of requests, with vLLM": {
    load: serving({
      command: "vllm serve m --max-num-seqs 40",
      engine: queued(120),
    }),
    ...engine,
    id: "engine/batch_limit",
    stake: [0.65, 0.85],
    title: /--max-num-seqs 40/,
  },
  "a limit of requests, with SGLang": {
    load: serving({
      command: "python -m sglang.launch_server --max-running-requests 16",
      engine: sglang,
    }),
    ...engine,
    id: "engine/batch_limit",
    stake: [0.65, 0.85],
    title: /--max-running-requests 16/,
  },
  "a limit of requests, with llama.cpp": {
    load: serving({ command: "llama-server --parallel 2", engine: llama }),
    ...engine,
    id: "engine/batch_limit",
    stake: [9 / 11 - 0.1, 9 / 11 + 0.1],
    title: /--parallel 2/,
  },
  "a batch that never changes, with TGI": {
    load: serving({ command: "text-generation-launcher", engine: tgi }),
    ...engine,
    id: "engine/batch_limit",
    stake: [0.55, 0.75],
    title: /as if held by/,
  },
  "more requests than the device can finish": {
    load: varying,
    ...engine,
    id: "engine/overload",
    stake: [0.45, 0.65],
  },
  "decoding without graphs": {
    load: serving({
      command: "vllm serve m --enforce-eager",
      devices: [decoder({ graphs: [], kernels: [work(SYMBOLS.gemm, 0.5, 6)] })],
    }),
    ...engine,
    id: "engine/graphs_off",
    stake: [0.4, 0.55],
    title: /--enforce-eager/,
  },
  "requests that fail": {
    load: serving({
      engine: {
        ...sglang,
        gauges: { ...sglang.gauges, "sglang:num_queue_reqs": 0 },
        counters: { "sglang:num_requests_total": 10, "sglang:num_aborted_requests_total": 3 },
        histograms: {},
      },
    }),
    class: "error",
    id: "engine/failed_requests",
    stake: [0.25, 0.35],
  },
  "tokens that are proposed and thrown away": {
    load: serving({
      engine: vllm({
        counters: {
          "vllm:spec_decode_num_drafts_total": 2400,
          "vllm:spec_decode_num_draft_tokens_total": 12_000,
          "vllm:spec_decode_num_accepted_tokens_total": 1200,
        },
      }),
    }),
    ...engine,
    id: "engine/speculation",
    stake: null,
  },
  "a prefix cache that is off": {
    load: serving({
      command: "vllm serve m --no-enable-prefix-caching",
      engine: prompts,
    }),
    ...engine,
    id: "engine/prefix_cache",
    stake: [0.2, 0.3],
  },
  "long prompts": {
    load: serving({ engine: prompts }),
    ...engine,
    id: "engine/prefill",
    stake: [0.2, 0.3],
    title: /the first token comes (?:3|2\.9)\S* s after the queue/,
  },
}, {
  "a full cache without waiting or preemption": {
    load: serving({ engine: vllm({ gauges: { "vllm:kv_cache_usage_perc": 0.97 } }) }),
    never: /engine/,
  },
  "as many requests as the limit, and none waits": {
    load: serving({ command: "vllm serve m --max-num-seqs 40" }),
    never: /engine/,
  },
  "a request that waits for a moment": {
    load: (step) => serving({ engine: step === 7 ? queued(3) : vllm() }),
    never: /engine/,
  },
  "half of the proposed tokens are accepted": {
    load: serving({
      engine: vllm({
        counters: {
          "vllm:spec_decode_num_drafts_total": 1400,
          "vllm:spec_decode_num_draft_tokens_total": 4200,
          "vllm:spec_decode_num_accepted_tokens_total": 2100,
        },
      }),
    }),
    never: /speculation/,
  },
  "a gauge that says no graph, while graphs run": {
    load: serving({
      engine: { tags: {}, gauges: { "sglang:num_running_reqs": 9, "sglang:is_cuda_graph": 0 } },
    }),
    never: /graphs_off/,
  },
  "an option that turns graphs on again": {
    load: serving({ command: "vllm serve m --enforce-eager false" }),
    never: /graphs_off/,
  },
  "short prompts without a cache": {
    load: serving({
      command: "vllm serve m --no-enable-prefix-caching",
      engine: vllm({
        counters: { "vllm:prompt_tokens_total": 900, "vllm:prefix_cache_hits_total": 0 },
      }),
    }),
    never: /prefix|prefill/,
  },
  "one request in a hundred fails": {
    load: serving({
      engine: {
        ...sglang,
        gauges: { ...sglang.gauges, "sglang:num_queue_reqs": 0 },
        counters: { "sglang:num_requests_total": 10, "sglang:num_aborted_requests_total": 0.1 },
        histograms: {},
      },
    }),
    never: /failed/,
  },
});
