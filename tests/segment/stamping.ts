/** Run of a process that writes the time into a counter at each publication. */

import type { Signals } from "@service/core";
import { readLocal, type Run, startRun, until } from "../stack.ts";

/** Name of the counter. */
const STAMP = "cuda_dropped_records_total";

/** Starts the run, and waits for the first time in its payload. */
export async function startStamping(writer: string, directory: string): Promise<Run> {
  const orders = [`series ${STAMP} 1`, "cell 0 0", "state 1", "serve 0"];
  const run = startRun([writer, "", ...orders], { directory });
  await until(async () => stampOf(await readLocal(run)) > 0);
  return run;
}

/** Newest time in a payload, epoch milliseconds; NaN without one. */
export function stampOf({ metrics }: Signals): number {
  const stats = metrics.find(({ name }) => name === STAMP)?.stats;
  return stats && "total" in stats ? Number(stats.total) / 1e6 : NaN;
}
