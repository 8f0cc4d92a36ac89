/** What a kernel's record costs in the collector, and what it keeps of a hundred million of them. */

import { compilerFor } from "../../ffi/build.ts";
import { PRODUCTS } from "../../ffi/products.ts";
import { command } from "../command.ts";
import { runScenario } from "../doubles/cuda/harness.ts";
import type { Row } from "./row.ts";

const HERE = new URL("./", import.meta.url).pathname;
const FFI = new URL("../../ffi/", import.meta.url).pathname;
/** The sources of the collector that need no driver. */
const PARTS = PRODUCTS["libservice.so"]!.sources.filter((path) =>
  !/^(exec|sources|segment\/ask|activity\/(collector|states)|cuda\/(injection|library|other|source|sub))/
    .test(path)
);
/** As the product is compiled. */
const FLAGS = ["-O2", "-g", "-std=gnu11", "-fvisibility=hidden"];

interface Figures {
  records: number;
  read_ns: number;
  recycle_ns: number;
  lend_ns: number;
  halfway_kib: number;
  after_kib: number;
}

interface Load {
  symbols: number;
  threads: number;
  millions: number;
}

/** Figures of the collector alone; none where there is no compiler. */
export async function benchCuda(directory: string): Promise<Row[]> {
  const compiler = compilerFor(Deno.build.arch);
  if (Deno.build.os !== "linux" || !compiler) return [];
  const program = `${directory}/cuda`;
  const files = [...PARTS.map((path) => FFI + path), `${HERE}cuda.c`];
  await output(compiler, [...FLAGS, ...files, "-o", program, "-ldl", "-pthread"]);
  const rows: Row[] = [];
  for (const symbols of [1, 500, 4000]) {
    rows.push(...await time(program, { symbols, threads: 1, millions: 2 }));
  }
  for (const symbols of [1, 500, 4000]) {
    rows.push(...await time(program, { symbols, threads: 16, millions: 5 }));
  }
  for (const symbols of [1, 500, 4000]) {
    rows.push(...await instructions(program, { symbols, threads: 1, millions: 1 }));
  }
  return [...rows, await memory(program), await exit()];
}

/**
 * The writer's thread decodes and zeroes; those that launch ask for buffers and return them. With more
 * threads its buffers come from the caches of other cores, whole ones out of order.
 */
async function time(program: string, load: Load): Promise<Row[]> {
  const runs: Figures[] = [];
  for (let i = 0; i < 3; i++) runs.push(await run(program, load));
  const median = (of: "read_ns" | "recycle_ns" | "lend_ns") =>
    runs.map((figures) => figures[of]).sort((a, b) => a - b)[1]!;
  const of = `${load.symbols} symbols, ${load.threads} ${load.threads > 1 ? "threads" : "thread"}`;
  return [
    {
      what: `CUDA: time of a kernel's record, ${of}`,
      figure: median("read_ns"),
      unit: "ns",
      ...load.symbols === 500 ? { target: { atMost: 25 } } : {},
      beside: { what: "to zero its memory", figure: median("recycle_ns") },
    },
    {
      what: `CUDA: time of a kernel's record where it is launched, ${of}`,
      figure: median("lend_ns"),
      unit: "ns",
    },
  ];
}

/** Those of our own; the stand-in for CUPTI's walk from record to record is beside them. */
async function instructions(program: string, load: Load): Promise<Row[]> {
  const own = await collected(program, load, ["records_read", "next_record"]);
  const walk = await collected(program, { ...load, millions: 0.1 }, ["next_record"]);
  if (own === null || walk === null) return [];
  return [{
    what: `CUDA: instructions of a kernel's record, ${load.symbols} symbols`,
    figure: own,
    unit: "",
    ...load.symbols === 500 ? { target: { atMost: 100 } } : {},
    beside: { what: "more of the stand-in for CUPTI's walk", figure: walk },
  }];
}

/** Instructions a record; collecting begins or ends with each call of `toggles`. None without valgrind. */
async function collected(program: string, load: Load, toggles: string[]): Promise<number | null> {
  const directory = program.slice(0, program.lastIndexOf("/"));
  const args = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
  for (const name of toggles) args.push(`--toggle-collect=${name}`);
  const said = await output("valgrind", [...args, program, ...words(program, load)]).catch(() =>
    null
  );
  if (!said) return null;
  await Deno.remove(`${directory}/segments`, { recursive: true });
  const { records } = JSON.parse(said.stdout) as Figures;
  return Number(said.stderr.match(/Collected : (\d+)/)![1]) / records;
}

async function memory(program: string): Promise<Row> {
  const { halfway_kib, after_kib } = await run(program, {
    symbols: 500,
    threads: 1,
    millions: 100,
  });
  return {
    what: "CUDA: memory that the second half of 100 million records takes",
    figure: after_kib - halfway_kib,
    unit: "KiB",
    target: { atMost: 64 },
    beside: { what: "resident in all (KiB)", figure: after_kib },
  };
}

async function exit(): Promise<Row> {
  const took_ms: number[] = [];
  for (let i = 0; i < 5; i++) {
    const { books: [own] } = await runScenario("timed_exit");
    took_ms.push(parseInt(own!.cells.get("exit_nanoseconds  ")!) / 1e6);
  }
  return {
    what: "CUDA: exit() of a process that used it",
    figure: took_ms.sort((a, b) => a - b)[2]!,
    unit: "ms",
    target: { atMost: 100 },
  };
}

async function run(program: string, load: Load): Promise<Figures> {
  const { stdout } = await output(program, words(program, load));
  await Deno.remove(`${program.slice(0, program.lastIndexOf("/"))}/segments`, { recursive: true });
  return JSON.parse(stdout);
}

function words(program: string, { symbols, threads, millions }: Load): string[] {
  const directory = program.slice(0, program.lastIndexOf("/"));
  return [`${directory}/segments/cuda`, ...[symbols, threads, millions].map(String)];
}

async function output(program: string, args: string[]) {
  const { success, stdout, stderr } = await command([program, ...args]).output();
  const text = new TextDecoder();
  const said = { stdout: text.decode(stdout), stderr: text.decode(stderr) };
  if (!success) throw new Error(`${program} failed:\n${said.stderr}`);
  return said;
}
