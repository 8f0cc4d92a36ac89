/**
 * Two checkouts compared: `deno run -A tests/bench/compare.ts <checkout before> [bench…]` runs each
 * bench in both, in turn, ten times, and prints the median ratio of every figure, after / before, with
 * its 95 % interval. Above 1 is slower: rates are turned over.
 */

import type { Row } from "./row.ts";

const ROUNDS = 10;
const AFTER = decodeURIComponent(new URL("../..", import.meta.url).pathname);

/** Benches that may be compared: file and function, the same in both checkouts. */
const BENCHES: Record<string, string> = {
  core: "benchCore",
  console: "benchConsole",
  cuda: "benchCuda",
  exposition: "benchExposition",
  segments: "benchSegments",
  ingest: "benchIngest",
  storage: "benchStorage",
  supervisor: "benchSupervisor",
};

/** The rows of one bench in one checkout, by a process of its own. */
async function measure(checkout: string, name: string): Promise<Row[]> {
  const directory = await Deno.makeTempDir({ prefix: "service-bench-" });
  const module = `file://${checkout}/tests/bench/${name}.ts`;
  const code = `import { ${BENCHES[name]} as bench } from ${JSON.stringify(module)};
    console.log("\\n" + JSON.stringify(await bench(${JSON.stringify(directory)})));`;
  const main = `${directory}/main.ts`;
  await Deno.writeTextFile(main, code);
  try {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--config", `${checkout}/deno.json`, main],
      cwd: checkout,
      stderr: "inherit",
    }).output();
    return JSON.parse(new TextDecoder().decode(stdout).trim().split("\n").at(-1)!);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** After / before, above 1 where `after` is worse. */
function ratio(before: Row, after: Row): number {
  const isRate = before.unit.endsWith("/s");
  return isRate ? before.figure / after.figure : after.figure / before.figure;
}

/** Median, and the order statistics that hold it with at least 95 % (binomial, n of 10: 2nd and 9th). */
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
    let rows: Row[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const checkouts = [before, AFTER];
      // The machine grows slower or faster with time: each goes first as often as the other.
      if (round % 2 === 1) checkouts.reverse();
      const measured = new Map<string, Row[]>();
      for (const checkout of checkouts) measured.set(checkout, await measure(checkout, name));
      const [old, now] = [measured.get(before)!, measured.get(AFTER)!];
      if (old.length !== now.length) throw new Error(`Cannot compare ${name}: other figures`);
      now.forEach((row, i) => (ratios[i] ??= []).push(ratio(old[i]!, row)));
      rows = now;
    }
    rows.forEach(({ what }, i) => {
      const [low, middle, high] = interval(ratios[i]!).map((value) => value.toFixed(3));
      console.log(`${name.padEnd(11)}${middle} [${low}, ${high}]  ${what}`);
    });
  }
}
