/** Check of exact counts: the metrics of a fixed amount of work, in both graph modes. */

import { type Finding, finding } from "./finding.ts";
import { frames, type GraphMode, profiled, type Share, total } from "./runs.ts";

const WORK = { small: 1000, large: 50, copies: 40, sets: 30, syncs: 20, a: 70, b: 90 };
const MEGABYTE = 1 << 20;

/** Runs the work in a graph mode, and compares every count. */
export async function checkCounts(workload: string, mode: GraphMode): Promise<Finding[]> {
  const counts = Object.values(WORK).map(String);
  const { payload } = await profiled([workload, "known", ...counts], mode);
  const node = mode === "node" ? 1 : 0;
  const { small, large, copies, sets, syncs, a, b } = WORK;
  const set = sets + node * a;
  const equal = (what: string, found: unknown, expected: unknown) =>
    finding(`${mode} mode: ${what}`, show(found), show(found) === show(expected), show(expected));
  const samples = (name: string) => counted(frames(payload, name));
  const directions = ["host_to_device", "device_to_host", "device_to_device"];
  return [
    equal("kernels", samples("cuda_kernels_nanoseconds"), {
      service_large: large + node * b,
      service_small: small + node * (3 * a + b),
    }),
    equal(
      "graph replays",
      Object.values(samples("cuda_graphs_nanoseconds")).sort((x, y) => x - y),
      node ? [] : [a, b],
    ),
    equal(
      "graphs that were identified",
      Object.keys(samples("cuda_graphs_nanoseconds")).filter((name) => /^[0-9a-f]{16}$/.test(name))
        .length,
      node ? 0 : 2,
    ),
    equal(
      "copies",
      samples("cuda_memcpy_nanoseconds"),
      Object.fromEntries(directions.map((name) => [name, copies])),
    ),
    equal("bytes copied", total(payload, "cuda_memcpy_bytes"), 3 * copies * MEGABYTE),
    equal("sets", samples("cuda_memset_nanoseconds"), { device: set }),
    equal("bytes set", total(payload, "cuda_memset_bytes"), set * MEGABYTE),
    equal("waits", samples("cuda_sync_nanoseconds"), {
      context: syncs,
      event: syncs,
      stream: syncs,
    }),
    equal("records lost", total(payload, "cuda_dropped_records_total"), 0),
    equal("records without times", total(payload, "cuda_invalid_records_total"), 0),
  ];
}

function counted(shares: Map<string, Share>): Record<string, number> {
  return Object.fromEntries(Array.from(shares, ([name, { samples }]) => [name, samples]));
}

function show(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return JSON.stringify(value);
  }
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort()));
}
