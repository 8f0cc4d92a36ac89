/** Check of 30 million records of graph nodes: their device memory, and their times. */

import { type Finding, finding, observation } from "./finding.ts";
import { profiled, total } from "./runs.ts";

const RECORDS = 30_000_000;

/** Measures the device's memory while {@linkcode RECORDS} kernels of one graph are recorded. */
export async function watchRecords(workload: string): Promise<Finding[]> {
  const { stdout, payload } = await profiled([workload, "records", String(RECORDS)], "node");
  const used: number[] = stdout.trim().split("\n").map((line) => JSON.parse(line).used_bytes);
  const grown = (used.at(-1)! - used[0]!) / (1 << 20);
  const invalid = total(payload, "cuda_invalid_records_total");
  return [
    observation(
      `device memory taken over ${RECORDS} records of graph nodes`,
      `${grown.toFixed(1)} MiB`,
    ),
    finding("of which without times", String(invalid), invalid === 0, "0"),
  ];
}
