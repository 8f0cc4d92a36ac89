/** Benchmark of the native supervisor: console throughput, and time added to a command. */

import { NEEDLES } from "../../local/sources/console/needles.ts";
import { readLocal, startRun, watcherOf } from "../stack.ts";
import { medianMs, type Row } from "./row.ts";
import { command } from "../command.ts";

const SUPERVISOR = new URL("../../ffi/build/service-supervisor", import.meta.url).pathname;
const SEARCHES = ["--needles", new TextEncoder().encode(NEEDLES.join("")).toHex()];
const BYTES = 2 ** 31;

/** Figures of the native supervisor alone; none if it is not built. */
export async function benchSupervisor(directory: string): Promise<Row[]> {
  if (!await Deno.stat(SUPERVISOR).catch(() => null)) return [];
  const bare = await medianMs(start("true"));
  const supervised = await medianMs(start(SUPERVISOR, "--", "true"));
  return [
    ...await throughput("yes", `head -c ${BYTES}`),
    ...await throughput(`head -c ${BYTES} /dev/zero`, "cat"),
    {
      what: "supervisor without a watcher, time added to `true`",
      figure: supervised - bare,
      unit: "ms",
      target: { atMost: 5 },
      comparison: { what: "`true` alone", figure: bare },
    },
    {
      what: "run with a killed watcher, time to end",
      figure: await endWithoutWatcher(directory),
      unit: "ms",
      target: { atMost: 1_000 },
    },
  ];
}

/** Milliseconds from the end of the workload to the end of the run. */
async function endWithoutWatcher(directory: string): Promise<number> {
  await using run = startRun(["sleep", "1000"], { directory });
  const { context } = await readLocal(run);
  Deno.kill(await watcherOf(run), "SIGKILL");
  const start_ms = performance.now();
  Deno.kill(Number(context["process.pid"]), "SIGTERM");
  await run.ended;
  return performance.now() - start_ms;
}

function start(...words: string[]) {
  return () => command(words, { stdout: "null", stderr: "null" }).output();
}

/** Rates with and without the supervisor, measured in turn: other load slows both alike. */
async function throughput(writer: string, reader: string): Promise<Row[]> {
  const bare: number[] = [];
  const pumped: number[] = [];
  for (let i = 0; i < 9; i++) {
    bare.push(await rate(`${writer} | ${reader}`));
    pumped.push(await rate(`${SUPERVISOR} ${SEARCHES.join(" ")} -- ${writer} | ${reader}`));
  }
  const what = `supervisor, console, ${writer} | ${reader}`;
  const figure = median(pumped);
  const bareRate = median(bare);
  return [
    {
      what,
      figure,
      unit: "GB/s",
      target: { atLeast: 1 },
      comparison: { what: "a bare pipe", figure: bareRate },
    },
    {
      what: `${what}, relative to a bare pipe`,
      figure: figure / bareRate,
      unit: "",
      target: { atLeast: 0.9 },
    },
  ];
}

async function rate(pipeline: string): Promise<number> {
  const start_ms = performance.now();
  await command(["bash", "-c", `${pipeline} > /dev/null`]).output();
  return BYTES / 1e6 / (performance.now() - start_ms);
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;
}
