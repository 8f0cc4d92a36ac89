/** Engines: what their own metrics tell, in one form. */

import { rounded } from "../sum.ts";
import type { Tags } from "../tags.ts";
import { type EngineField, type EngineNames, ENGINES } from "./engine_names.ts";
import type { EngineFacts } from "./engine_facts.ts";
import type { WorkloadFacts } from "./instance_facts.ts";
import { type Durations, inUnit, type Level } from "./level.ts";
import type { Reading } from "./reading.ts";
import { flagOf } from "./workload.ts";

/** Tags that tell servers with queues of their own apart. */
const APART: readonly string[] = ["metrics.url", "engine", "dp_rank", "model_name"];
/** Tags of the ranks of one server, which all tell the same of it: the first is enough. */
const ALIKE: readonly string[] = ["tp_rank", "pp_rank", "moe_ep_rank"];
/** Fields that are shares, not numbers of things: of several series the mean counts. */
const SHARES: ReadonlySet<EngineField> = new Set([
  "cache_use",
  "prefix_hit_share",
  "accepted_share",
  "accepted_length",
  "graphs",
]);
/** Ways to finish that are whole answers. */
const WHOLE: ReadonlySet<string> = new Set(["stop", "length", "tool_calls", "eos", ""]);

/** The engines of a reading. */
export function enginesOf(reading: Reading, workload: WorkloadFacts): EngineFacts[] {
  return ENGINES.flatMap((names) =>
    serversOf(reading, names).map((tags) => engineOf(reading, { names, tags, workload }))
  );
}

/**
 * The tags of each server: those by which its gauges of requests differ, and its tokens too. Where tokens
 * are counted for all ranks together, so are the requests.
 */
function serversOf(reading: Reading, { prefix, running, generated_tokens }: EngineNames): Tags[] {
  const counted = generated_tokens.flatMap((name) => reading.series(prefix + name));
  const isCounted = (tag: string) =>
    counted.length === 0 || counted.some(({ tags }) => tags[tag] !== undefined);
  const apart = APART.filter(isCounted);
  for (const name of [...running, ...generated_tokens]) {
    const found = new Map<string, Tags>();
    for (const { tags } of reading.series(prefix + name)) {
      const own = Object.fromEntries(
        apart.flatMap((tag) => tags[tag] === undefined ? [] : [[tag, tags[tag]]]),
      );
      found.set(JSON.stringify(own), own);
    }
    if (found.size > 0) return [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([, own]) => own);
  }
  return [];
}

function engineOf(
  reading: Reading,
  { names, tags, workload }: { names: EngineNames; tags: Tags; workload: WorkloadFacts },
): EngineFacts {
  const metrics: EngineFacts["metrics"] = {};
  const first = <T>(field: EngineField, read: (name: string) => T | null): T | null => {
    for (const name of names[field]) {
      const value = read(names.prefix + name);
      if (value === null) continue;
      metrics[field] = names.prefix + name;
      return value;
    }
    return null;
  };
  const level = (field: EngineField): Level | null =>
    first(field, (name) => {
      const of = { ...tags, ...firstRank(reading, name) };
      const sum = reading.level(name, of);
      if (!SHARES.has(field)) return sum;
      const { length } = reading.series(name, of);
      return inUnit(sum, (value) => value / length);
    });
  const total = (field: EngineField): number | null =>
    first(field, (name) => reading.total(name, tags));
  const rate = (field: EngineField): number | null => perSecond(total(field), reading.seconds);
  const durations = (field: EngineField): Durations | null =>
    first(field, (name) => reading.durations(name, tags));
  const requests = total("requests") ?? durations("request")?.count ?? null;
  const prompt = total("prompt_tokens");
  const generated = total("generated_tokens");
  const limit = Number(flagOf(workload, ...names.limit_flags) ?? NaN);
  const ends = endsOf(reading, names, tags);
  const graphs = level("graphs");
  const configuration = configurationOf(reading, names, tags);
  return {
    engine: names.engine,
    tags,
    metrics,
    seconds: reading.seconds,
    running: level("running"),
    waiting: level("waiting"),
    max_running: Number.isFinite(limit) && limit > 0 ? limit : null,
    cache_use: level("cache_use"),
    cache_tokens: level("cache_tokens")?.last ?? cacheTokens(configuration),
    preemptions_per_second: rate("preemptions"),
    prefix_hit_share: ratio(total("prefix_hits"), total("prefix_queries")) ??
      level("prefix_hit_share")?.mean ?? null,
    prompt_tokens_per_second: perSecond(prompt, reading.seconds),
    generated_tokens_per_second: perSecond(generated, reading.seconds),
    requests_per_second: perSecond(requests, reading.seconds),
    failed_requests_per_second: rate("failed") ?? perSecond(ends.failed, reading.seconds),
    length_limited_share: ratio(ends.length, ends.all),
    prompt_tokens_per_request: ratio(prompt, requests),
    generated_tokens_per_request: ratio(generated, requests),
    queue: durations("queue"),
    prefill: durations("prefill"),
    first_token: durations("first_token"),
    between_tokens: durations("between_tokens"),
    request: durations("request"),
    accepted_share: ratio(total("accepted"), total("drafted")) ??
      level("accepted_share")?.mean ?? null,
    tokens_per_step: speculated(total("accepted"), total("drafts")) ??
      level("accepted_length")?.mean ?? null,
    uses_graphs: graphs ? graphs.mean >= 0.5 : graphsByFlag(workload),
    configuration,
  };
}

/** The tags of the first of the ranks that tell the same; none where ranks are not told. */
function firstRank(reading: Reading, name: string): Tags {
  const tags = reading.tagsOf(name);
  return Object.fromEntries(ALIKE.flatMap((tag) => tags[tag] === undefined ? [] : [[tag, "0"]]));
}

/** Requests by the way they finished, where the engine tells. */
function endsOf(
  reading: Reading,
  { prefix, requests }: EngineNames,
  tags: Tags,
): { all: number | null; length: number | null; failed: number | null } {
  const ends = requests.flatMap((name) => reading.series(prefix + name, tags))
    .filter(({ tags }) => tags.finished_reason !== undefined)
    .flatMap((series) =>
      series.type === "counter"
        ? [{ reason: series.tags.finished_reason!, times: rounded(series.total) }]
        : []
    );
  if (ends.length === 0) return { all: null, length: null, failed: null };
  const sum = (isMeant: (reason: string) => boolean) =>
    ends.reduce((all, { reason, times }) => all + (isMeant(reason) ? times : 0), 0);
  return {
    all: sum(() => true),
    length: sum((reason) => reason === "length"),
    failed: sum((reason) => !WHOLE.has(reason)),
  };
}

/** The tags of the gauges that carry a server's configuration; they may lack some of its own tags. */
function configurationOf(
  reading: Reading,
  { prefix, configuration }: EngineNames,
  own: Tags,
): Tags {
  return Object.assign(
    {},
    ...configuration.flatMap((name) => {
      const [first] = reading.series(prefix + name);
      const shared = Object.entries(own).filter(([tag]) => first && tag in first.tags);
      return reading.series(prefix + name, Object.fromEntries(shared)).map(({ tags }) => tags);
    }),
  );
}

/** Tokens of vLLM's cache: blocks by their size. */
function cacheTokens({ num_gpu_blocks, block_size }: Tags): number | null {
  return Number(num_gpu_blocks) * Number(block_size) || null;
}

/** Whether the command line turns graphs off; `null` where it does not say. */
function graphsByFlag(workload: WorkloadFacts): boolean | null {
  const eager = flagOf(workload, "--enforce-eager", "--disable-cuda-graph");
  return eager === undefined || eager === "false" || eager === "False" ? null : false;
}

/** Tokens of a step: those accepted of each draft, and the one that is sure. */
function speculated(accepted: number | null, drafts: number | null): number | null {
  const more = ratio(accepted, drafts);
  return more === null ? null : 1 + more;
}

function ratio(part: number | null, whole: number | null): number | null {
  return part === null || !whole ? null : part / whole;
}

function perSecond(total: number | null, seconds: number): number | null {
  return total === null || seconds <= 0 ? null : total / seconds;
}
