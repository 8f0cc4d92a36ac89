/**
 * Comparison of two checkouts: `deno run -A tests/bench/compare.ts <checkout before> [bench…]`. Runs
 * each benchmark in both, in turn, ten times, and prints the median ratio of every figure with its 95 %
 * interval. A ratio above 1 is worse: of a rate it is before / after, else after / before.
 */

import { command } from "../command.ts";
import type { Row } from "./row.ts";

const ROUNDS = 10;
const AFTER = decodeURIComponent(new URL("../..", import.meta.url).pathname);

/** Benchmarks that can be compared: file and function, the same in both checkouts. */
const BENCHES: Record<string, string> = {
  core: "benchCore",
  console: "benchConsole",
  cuda: "benchCuda",
  cuda_process: "benchCudaProcess",
  exposition: "benchExposition",
  gaps: "benchGaps",
  segments: "benchSegments",
  ingest: "benchIngest",
  keep: "benchKeep",
  launches: "benchLaunches",
  storage: "benchStorage",
  supervisor: "benchSupervisor",
};

/** Rows of a benchmark in a checkout, measured in a separate process. */
async function measure(checkout: string, name: string): Promise<Row[]> {
  const directory = await Deno.makeTempDir({ prefix: "service-bench-" });
  const module = `file://${checkout}/tests/bench/${name}.ts`;
  const code = `import { ${BENCHES[name]} as bench } from ${JSON.stringify(module)};
    console.log("\\n" + JSON.stringify(await bench(${JSON.stringify(directory)})));`;
  const main = `${directory}/main.ts`;
  await Deno.writeTextFile(main, code);
  try {
    const { stdout } = await command(
      [Deno.execPath(), "run", "-A", "--quiet", "--config", `${checkout}/deno.json`, main],
      { cwd: checkout, stderr: "inherit" },
    ).output();
    return JSON.parse(new TextDecoder().decode(stdout).trim().split("\n").at(-1)!);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** A row of the checkout after, and the same row of the checkout before. */
export interface RowPair {
  before: Row;
  after: Row;
}

/** Rows of two checkouts in pairs, and the labels of the rows without one. */
export interface RowPairs {
  pairs: RowPair[];
  leftOut: string[];
}

/**
 * Pairs rows by label. A row with a new label is paired with the row at the same index, if that label
 * is gone: it may have been renamed, so the output has both labels. Rows of a pair have the same unit.
 */
export function pairRows(before: Row[], after: Row[]): RowPairs {
  const labels = new Set(after.map(({ what }) => what));
  const pairs = after.flatMap((row, i) => {
    const renamed = before[i] && !labels.has(before[i].what) ? before[i] : undefined;
    const other = before.find(({ what }) => what === row.what) ?? renamed;
    return other?.unit === row.unit ? [{ before: other, after: row }] : [];
  });
  const paired = new Set(pairs.flatMap((pair) => [pair.before, pair.after]));
  const leftOut = [...before, ...after].filter((row) => !paired.has(row)).map(({ what }) => what);
  return { pairs, leftOut };
}

/** Ratio of a pair of figures, above 1 if `after` is worse. */
function ratio({ before, after }: RowPair): number {
  const isRate = before.unit.endsWith("/s");
  return isRate ? before.figure / after.figure : after.figure / before.figure;
}

/** Median with its 95 % interval: of 10 ratios the 2nd and the 9th (order statistics, binomial). */
function interval(ratios: number[]): [low: number, median: number, high: number] {
  const sorted = ratios.toSorted((a, b) => a - b);
  const outside = sorted.length >= 9 ? 1 : 0;
  const middle = (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
  return [sorted[outside]!, middle, sorted.at(-1 - outside)!];
}

if (import.meta.main) {
  const [before, ...chosen] = Deno.args;
  if (!before) {
    console.error(`Usage: compare.ts <checkout before> [${Object.keys(BENCHES).join("|")}]…`);
    Deno.exit(2);
  }
  for (const name of chosen.length > 0 ? chosen : Object.keys(BENCHES)) {
    const ratios: number[][] = [];
    let rows: RowPairs = { pairs: [], leftOut: [] };
    for (let round = 0; round < ROUNDS; round++) {
      const checkouts = [before, AFTER];
      // The speed of the machine drifts, so each checkout is first in half of the rounds.
      if (round % 2 === 1) checkouts.reverse();
      const measured = new Map<string, Row[]>();
      for (const checkout of checkouts) measured.set(checkout, await measure(checkout, name));
      rows = pairRows(measured.get(before)!, measured.get(AFTER)!);
      rows.pairs.forEach((pair, i) => (ratios[i] ??= []).push(ratio(pair)));
    }
    rows.pairs.forEach((pair, i) => {
      const [low, middle, high] = interval(ratios[i]!).map((value) => value.toFixed(3));
      const { what } = pair.after;
      const renamed = pair.before.what === what ? "" : ` (before: ${pair.before.what})`;
      console.log(`${name.padEnd(11)}${middle} [${low}, ${high}]  ${what}${renamed}`);
    });
    for (const what of rows.leftOut) console.log(`${name.padEnd(11)}left out: ${what}`);
  }
}
