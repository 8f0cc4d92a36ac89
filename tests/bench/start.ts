/** Benchmark of starts: the time that a run adds to a command that ends at once, quiet and under load. */

import { command } from "../command.ts";
import type { Row } from "./row.ts";

const MOD = new URL("../../mod.ts", import.meta.url).pathname;
const STARTS = 30;

/** Loops that keep each core busy twice. */
const BUSY = 2 * navigator.hardwareConcurrency;

/** Figures of starts, beside those of `graphsignal-run` where it is installed. */
export async function benchStart(directory: string): Promise<Row[]> {
  const rows = await compareStarts(directory, "");
  const loops = Array.from(
    { length: BUSY },
    () => command(["sh", "-c", "while :; do :; done"]).spawn(),
  );
  try {
    return [...rows, ...await compareStarts(directory, `, ${BUSY} busy loops beside it`)];
  } finally {
    for (const loop of loops) loop.kill("SIGKILL");
    await Promise.all(loops.map(({ status }) => status));
  }
}

/** Medians of starts in turn, back and forth: what the others leave behind slows all alike. */
async function compareStarts(directory: string, load: string): Promise<Row[]> {
  const starts = Object.entries({
    bare: ["true"],
    run: [Deno.execPath(), "run", "-A", MOD, "--", "true"],
    peer: ["graphsignal-run", "true"],
  });
  const took: Record<string, number[]> = { bare: [], run: [], peer: [] };
  for (let i = -2; i < STARTS; i++) {
    for (const [name, words] of i % 2 ? starts.toReversed() : starts) {
      const ms = await timeOf(words, directory).catch(missing);
      if (i >= 0 && ms !== null) took[name]!.push(ms);
    }
  }
  const [bare, run, peer] = [took.bare!, took.run!, took.peer!].map(median);
  const comparison = peer === undefined
    ? { what: "`true` alone", figure: bare! }
    : { what: "graphsignal-run", figure: peer - bare! };
  return [{
    what: `start of a command that ends at once, added time${load}`,
    figure: run! - bare!,
    unit: "ms",
    target: { atMost: Math.min(100, peer === undefined ? 100 : peer - bare!) },
    comparison,
  }];
}

/** Milliseconds to the end of a command, as a shell sees it. */
async function timeOf(words: string[], directory: string): Promise<number> {
  const env = { XDG_STATE_HOME: directory, CI: "" };
  const start_ms = performance.now();
  await command(words, { env, stdin: "null", stdout: "null", stderr: "null" }).output();
  return performance.now() - start_ms;
}

function missing(error: unknown): null {
  if (error instanceof Deno.errors.NotFound) return null;
  throw error;
}

function median(numbers: number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}
