/** Benchmark of launches: the time that the profiler takes from the thread that makes them. */

import { BUILD, compilerFor } from "../../ffi/build.ts";
import { command } from "../command.ts";
import type { Row } from "./row.ts";

const HERE = decodeURIComponent(new URL("./", import.meta.url).pathname);
const FLAGS = ["-O2", "-g", "-std=gnu11", "-Wall", "-Wextra"];
const DOUBLE = "libcupti.so.13";
/** Turns of each program; the least time of each counts, as other programs only add to it. */
const TURNS = 7;
/** Launches of a turn, of all threads. */
const MILLIONS = 16;

/** Figures of launches from 1, 2 and 8 threads at once; none without a C compiler. */
export async function benchLaunches(directory: string): Promise<Row[]> {
  const compiler = compilerFor(Deno.build.arch);
  if (Deno.build.os !== "linux" || !compiler) return [];
  const program = `${directory}/launches`;
  await output([
    ...[compiler, ...FLAGS, "-shared", "-fPIC", `-Wl,-soname,${DOUBLE}`],
    ...[`${HERE}launches_double.c`, "-o", `${directory}/${DOUBLE}`],
  ]);
  await output([
    ...[compiler, ...FLAGS, `${HERE}launches.c`, `${directory}/${DOUBLE}`],
    ...[`-Wl,-rpath,${directory}`, "-o", program, "-ldl", "-pthread"],
  ]);
  const rows: Row[] = [];
  for (const threads of [1, 2, 8]) rows.push(await row(program, threads));
  return rows;
}

async function row(program: string, threads: number): Promise<Row> {
  const directory = program.slice(0, program.lastIndexOf("/"));
  const env = { SERVICE_SEGMENTS: `${directory}/segments/launches` };
  const time = async (profiler: string) =>
    Number(await output([program, profiler, `${threads}`, `${MILLIONS / threads}`], env));
  let [bare, profiled] = [Infinity, Infinity];
  for (let i = 0; i < TURNS; i++) {
    bare = Math.min(bare, await time("none"));
    profiled = Math.min(profiled, await time(`${BUILD}/libservice.so`));
  }
  await Deno.remove(`${directory}/segments`, { recursive: true });
  return {
    what: `CUDA launch, added time, ${threads} ${threads === 1 ? "thread" : "threads"}`,
    figure: Math.max(0, profiled - bare),
    unit: "ns",
    ...threads <= 2 ? { target: { atMost: 5 } } : {},
    comparison: { what: "with a profiler that does nothing", figure: bare },
  };
}

async function output(words: string[], env: Record<string, string> = {}): Promise<string> {
  const { success, stdout, stderr } = await command(words, { env }).output();
  if (!success) throw new Error(`${words[0]} failed:\n${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}
