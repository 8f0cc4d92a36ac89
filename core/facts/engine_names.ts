/** Names of what engines publish, one table for all. Of several names the first that is there counts. */

/** What an engine may publish under names of its own. */
export type EngineField =
  | "running"
  | "waiting"
  | "cache_use"
  | "cache_tokens"
  | "preemptions"
  | "prefix_queries"
  | "prefix_hits"
  | "prefix_hit_share"
  | "prompt_tokens"
  | "generated_tokens"
  | "requests"
  | "failed"
  | "queue"
  | "prefill"
  | "first_token"
  | "between_tokens"
  | "request"
  | "drafted"
  | "accepted"
  | "drafts"
  | "accepted_share"
  | "accepted_length"
  | "graphs";

/** How one engine calls what {@linkcode EngineFacts} has: names without the prefix. */
export interface EngineNames extends Readonly<Record<EngineField, readonly string[]>> {
  /** Name of the engine. */
  engine: string;
  /** Prefix of its metrics. */
  prefix: string;
  /** Options of its command line that set the most requests at once. */
  limit_flags: readonly string[];
  /** Gauges whose tags are configuration. */
  configuration: readonly string[];
}

const NONE = {
  limit_flags: [],
  running: [],
  waiting: [],
  cache_use: [],
  cache_tokens: [],
  preemptions: [],
  prefix_queries: [],
  prefix_hits: [],
  prefix_hit_share: [],
  prompt_tokens: [],
  generated_tokens: [],
  requests: [],
  failed: [],
  queue: [],
  prefill: [],
  first_token: [],
  between_tokens: [],
  request: [],
  drafted: [],
  accepted: [],
  drafts: [],
  accepted_share: [],
  accepted_length: [],
  graphs: [],
  configuration: [],
} satisfies Omit<EngineNames, "engine" | "prefix">;

/** The table. */
export const ENGINES: readonly EngineNames[] = [
  {
    ...NONE,
    engine: "vllm",
    prefix: "vllm:",
    limit_flags: ["--max-num-seqs"],
    running: ["num_requests_running"],
    waiting: ["num_requests_waiting"],
    cache_use: ["kv_cache_usage_perc", "gpu_cache_usage_perc"],
    preemptions: ["num_preemptions_total", "num_preemptions"],
    prefix_queries: ["prefix_cache_queries_total", "gpu_prefix_cache_queries_total"],
    prefix_hits: ["prefix_cache_hits_total", "gpu_prefix_cache_hits_total"],
    prompt_tokens: ["prompt_tokens_total"],
    generated_tokens: ["generation_tokens_total"],
    requests: ["request_success_total"],
    queue: ["request_queue_time_seconds"],
    prefill: ["request_prefill_time_seconds"],
    first_token: ["time_to_first_token_seconds"],
    between_tokens: ["inter_token_latency_seconds", "time_per_output_token_seconds"],
    request: ["e2e_request_latency_seconds"],
    drafts: ["spec_decode_num_drafts_total"],
    drafted: ["spec_decode_num_draft_tokens_total"],
    accepted: ["spec_decode_num_accepted_tokens_total"],
    configuration: ["cache_config_info"],
  },
  {
    ...NONE,
    engine: "sglang",
    prefix: "sglang:",
    limit_flags: ["--max-running-requests"],
    running: ["num_running_reqs"],
    waiting: ["num_queue_reqs"],
    cache_use: ["token_usage"],
    cache_tokens: ["max_total_num_tokens"],
    preemptions: ["num_retractions_total", "num_retracted_requests_total"],
    prefix_hit_share: ["cache_hit_rate"],
    prefix_queries: ["prompt_tokens_total"],
    prefix_hits: ["cached_tokens_total"],
    prompt_tokens: ["prompt_tokens_total"],
    generated_tokens: ["generation_tokens_total"],
    requests: ["num_requests_total"],
    failed: ["num_aborted_requests_total"],
    queue: ["queue_time_seconds"],
    first_token: ["time_to_first_token_seconds"],
    between_tokens: ["inter_token_latency_seconds", "time_per_output_token_seconds"],
    request: ["e2e_request_latency_seconds"],
    accepted_share: ["spec_accept_rate"],
    accepted_length: ["spec_accept_length"],
    graphs: ["is_cuda_graph"],
  },
  {
    ...NONE,
    engine: "llama.cpp",
    prefix: "llamacpp:",
    limit_flags: ["--parallel", "-np"],
    running: ["requests_processing"],
    waiting: ["requests_deferred"],
    cache_use: ["kv_cache_usage_ratio"],
    cache_tokens: [],
    prompt_tokens: ["prompt_tokens_total"],
    generated_tokens: ["tokens_predicted_total"],
  },
  {
    ...NONE,
    engine: "tgi",
    prefix: "tgi_",
    limit_flags: ["--max-concurrent-requests"],
    running: ["batch_current_size"],
    waiting: ["queue_size"],
    requests: ["request_success", "request_success_total"],
    failed: ["request_failure", "request_failure_total"],
    queue: ["request_queue_duration"],
    between_tokens: ["request_mean_time_per_token_duration"],
    request: ["request_duration"],
  },
];
