/**
 * Reads many runs, of the hosted API or at a local endpoint: prints a line for each run of the last
 * hour, with the CPU time of its processes per second of the measured time.
 * `deno run -A examples/read_runs.ts [<url> [<key of the hosted API>]]`
 */

import type { Window } from "@service/core";
import { httpReader } from "@service/core/http_reader";

const HOUR_NS = 3_600_000_000_000n;

/** Runs that are listed at a time. */
const PAGE = 100;

const [url = "http://127.0.0.1:18259", key] = Deno.args;
const reader = httpReader({ url, key, fetch });
const now_ns = BigInt(Date.now()) * 1_000_000n;
const span = { from_ns: now_ns - HOUR_NS, to_ns: now_ns };
const COVERED = "profiler_covered_nanoseconds";
/** Of the processes, and of those that have ended. */
const CPU_SECONDS = [
  "process_user_cpu_seconds",
  "process_system_cpu_seconds",
  "process_ended_user_cpu_seconds",
  "process_ended_system_cpu_seconds",
];
const metrics = [COVERED, ...CPU_SECONDS];

let after: string | undefined;
do {
  const runs = await reader.instances({}, span, { limit: PAGE, after });
  const ids = runs.map(({ instance_id }) => instance_id);
  for await (const { instance, window, gaps } of reader.windows(ids, span, { metrics })) {
    const covered = total(window, COVERED);
    const used = CPU_SECONDS.reduce((sum, name) => sum + total(window, name), 0);
    const cpus = covered > 0 ? (used / (covered / 1e9)).toFixed(2) : "?";
    const lacking = gaps.length > 0 ? `, lacks ${gaps.length} spans` : "";
    console.log(`${instance.instance_id} ${instance.tags["host.name"]}: ${cpus} CPUs${lacking}`);
  }
  after = ids.length === PAGE ? ids.at(-1) : undefined;
} while (after !== undefined);

/** The increase of a counter, of all its series together. */
function total({ series }: Window, name: string): number {
  let sum = 0;
  for (const one of series.values()) {
    if (one.name !== name || one.type !== "counter") continue;
    sum += typeof one.total === "number" ? one.total : one.total[0]!;
  }
  return sum;
}
