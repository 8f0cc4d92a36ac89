/** Facts of an inference engine, in one form for all engines. `null` is not measured. */

import type { Tags } from "../tags.ts";
import type { EngineField } from "./engine_names.ts";
import type { Durations, Level } from "./level.ts";

/** Facts of one engine of a run: one model server with its own queue. */
export interface EngineFacts {
  /** `vllm`, `sglang`, `llama.cpp`, `tgi` and so on, by the prefix of its metrics. */
  engine: string;
  /** Tags that all its series share, such as `model_name`, `engine`. */
  tags: Tags;
  /** Names of the metrics that the numbers below are of, as the engine calls them. */
  metrics: Partial<Record<EngineField, string>>;
  /** Seconds in which it was read. */
  seconds: number;
  /** Requests that are worked on. */
  running: Level | null;
  /** Requests that wait. */
  waiting: Level | null;
  /** Most requests that it works on at once: from its configuration or command line. */
  max_running: number | null;
  /** Share of the KV cache in use: 0 to 1. */
  cache_use: Level | null;
  /** Tokens that the cache holds. */
  cache_tokens: number | null;
  /** Preemptions, retractions: requests whose work was thrown away, a second. */
  preemptions_per_second: number | null;
  /** Share of prompt tokens found in the prefix cache: 0 to 1. */
  prefix_hit_share: number | null;
  /** Prompt tokens a second. */
  prompt_tokens_per_second: number | null;
  /** Generated tokens a second. */
  generated_tokens_per_second: number | null;
  /** Requests that finished, a second. */
  requests_per_second: number | null;
  /** Requests that ended in any other way than in full, a second: aborted, error. */
  failed_requests_per_second: number | null;
  /** Requests cut off at their length limit, of all that finished: 0 to 1. */
  length_limited_share: number | null;
  /** Mean lengths, tokens. */
  prompt_tokens_per_request: number | null;
  /** Mean lengths, tokens. */
  generated_tokens_per_request: number | null;
  /** Time in the queue. */
  queue: Durations | null;
  /** Time of the prompt's work. */
  prefill: Durations | null;
  /** Time to first token. */
  first_token: Durations | null;
  /** Time between tokens. */
  between_tokens: Durations | null;
  /** Time of whole requests. */
  request: Durations | null;
  /** Proposed tokens that were accepted: 0 to 1; `null` without speculation. */
  accepted_share: number | null;
  /** Mean tokens of a step with speculation, the one that is sure included. */
  tokens_per_step: number | null;
  /** Whether decoding runs in CUDA graphs. */
  uses_graphs: boolean | null;
  /** What the engine tells of its configuration, by its own names. */
  configuration: Tags;
}
