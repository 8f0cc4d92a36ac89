/** A run of a process that stamps the time into a counter whenever it publishes. */

import type { Signals } from "@service/core";
import { readLocal, type Run, startRun, until } from "../stack.ts";

/** The counter. */
const STAMP = "cuda_dropped_records_total";

/** Starts it, and waits until it is seen. */
export async function startStamping(writer: string, directory: string): Promise<Run> {
  const orders = [`series ${STAMP} 1`, "cell 0 0", "state 1", "serve 0"];
  const run = startRun([writer, "", ...orders], { directory });
  await until(async () => stampOf(await readLocal(run)) > 0);
  return run;
}

/** The newest stamp, epoch milliseconds; NaN where there is none. */
export function stampOf({ metrics }: Signals): number {
  const stats = metrics.find(({ name }) => name === STAMP)?.stats;
  return stats && "total" in stats ? Number(stats.total) / 1e6 : NaN;
}
