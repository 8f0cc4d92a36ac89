/** The section on engines: load, queues, cache and latencies, with the arithmetic done. */

import { named } from "../quoted.ts";
import type { EngineFacts } from "../facts/mod.ts";
import type { Block, Row, SectionText } from "./section_text.ts";
import { labelsOf, type Subject } from "./subject.ts";
import { durations, number, percent, rangeOf, seconds, tagsByName } from "./words.ts";

/** Engines with lines of their own. */
const DETAILED = 4;

/** Engines. */
export function engineSection({ instances }: Subject): SectionText {
  const labelOf = labelsOf(instances);
  const engines = instances.flatMap((facts) =>
    facts.engines.map((engine) => ({ engine, label: labelOf(facts) }))
  );
  const title = "Engine";
  if (engines.length === 0) {
    const lead = [
      "No engine's metrics were read: this is no inference server, or see completeness.",
    ];
    return { section: "engine", title, blocks: [{ lead, rows: [] }] };
  }
  const on = (label: string) => instances.length > 1 ? ` on ${label}` : "";
  const blocks = engines.slice(0, DETAILED).map(({ engine, label }, at): Block => ({
    lead: [headOf(engine, on(label))],
    rows: linesOf(engine).map((text, line): Row => ({
      text: `- ${text}`,
      weight: 500 - 10 * at - line,
    })),
  }));
  const others = engines.slice(DETAILED).map(({ engine, label }, at): Row => ({
    text: `- ${headOf(engine, on(label))} ${linesOf(engine)[0]}`,
    weight: 300 - at,
  }));
  if (others.length > 0) blocks.push({ lead: [], rows: others, of: "engines" });
  return { section: "engine", title, blocks };
}

function headOf({ engine, tags }: EngineFacts, on: string): string {
  const own = tagsByName(tags).map(([name, value]) => `${named(name, 60)}=${named(value, 80)}`)
    .join(
      ", ",
    );
  return `${named(engine, 40)}${on}${own ? ` (${own})` : ""}:`;
}

function linesOf(one: EngineFacts): string[] {
  const littles = one.waiting && one.queue && one.requests_per_second
    ? one.requests_per_second * one.queue.mean_seconds
    : null;
  return [
    `requests running ${rangeOf(one.running)}${
      one.max_running ? `, limit ${one.max_running}` : ""
    }; waiting ${rangeOf(one.waiting)}` +
    (littles === null ? "" : ` (arrivals x time in the queue: ${number(littles)})`),
    `KV cache ${rangeOf(one.cache_use, 100)} % full${
      one.cache_tokens ? `, ${number(one.cache_tokens)} tokens` : ""
    }; preempted ${number(one.preemptions_per_second)} requests/s; prefix cache hits ${
      percent(one.prefix_hit_share)
    } %`,
    `throughput: ${number(one.generated_tokens_per_second)} generated tokens/s, ${
      number(one.prompt_tokens_per_second)
    } prompt tokens/s, ${number(one.requests_per_second)} requests/s` +
    (one.failed_requests_per_second
      ? `, ${number(one.failed_requests_per_second)} of them failed or aborted`
      : ""),
    `a request: ${number(one.prompt_tokens_per_request)} prompt and ${
      number(one.generated_tokens_per_request)
    } generated tokens on average` +
    (one.length_limited_share
      ? `; ${percent(one.length_limited_share)} % end at their length limit`
      : ""),
    `time to first token: ${durations(one.first_token)}; of it in the queue: ${
      durations(one.queue)
    }; prompt work: ${durations(one.prefill)}`,
    `time between tokens: ${durations(one.between_tokens)}; whole request: ${
      durations(one.request)
    }`,
    ...(one.accepted_share === null ? [] : [
      `speculation: ${percent(one.accepted_share)} % of proposed tokens accepted, ${
        number(one.tokens_per_step)
      } tokens a step`,
    ]),
    ...(one.uses_graphs === null
      ? []
      : [`CUDA graphs for decoding: ${one.uses_graphs ? "on" : "off"}`]),
    ...(Object.keys(one.configuration).length > 0
      ? [
        `configuration: ${
          tagsByName(one.configuration).filter(([name]) => !(name in one.tags)).map((
            [name, value],
          ) => `${named(name, 60)}=${named(value, 60)}`).join(", ")
        }`,
      ]
      : []),
    `measured for ${seconds(one.seconds)}; a latency under the profiler is not the workload's own`,
  ];
}
