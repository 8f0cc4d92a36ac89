/** Benchmark of the CUDA collector: time and instructions per kernel record, and memory. */

import { compilerFor } from "../../ffi/build.ts";
import { PRODUCTS } from "../../ffi/products.ts";
import { command } from "../command.ts";
import { runScenario } from "../doubles/cuda/harness.ts";
import type { Row } from "./row.ts";

const HERE = new URL("./", import.meta.url).pathname;
const FFI = new URL("../../ffi/", import.meta.url).pathname;
/** The sources of the collector that need no driver. */
const PARTS = PRODUCTS["libservice.so"]!.sources.filter((path) =>
  !/^(exec|sources|segment\/ask|activity\/(collector|states)|cuda\/(call|inj|launches|lib|other|reasons|source|sub))/
    .test(path)
);
/** Compiler flags of the product. */
const FLAGS = ["-O2", "-g", "-std=gnu11", "-fvisibility=hidden"];

interface Figures {
  records: number;
  read_ns: number;
  recycle_ns: number;
  lend_ns: number;
  halfway_kib: number;
  after_kib: number;
}

/** Generated records. */
export interface Load {
  symbols: number;
  threads: number;
  millions: number;
  /** 1 unless given. */
  devices?: number;
  /** Bytes of the longest symbol, the shortest then has 300; about 100 unless given. */
  longest?: number;
  /** Kernels that a kernel may come too late; in order unless given. */
  disorder?: number;
  /** Records a second; as fast as possible unless given. */
  rate?: number;
}

/** Kernels of eight devices, far out of order. */
const DISORDER = { symbols: 500, devices: 8, disorder: 2000 };

/** Path of the program that feeds the collector alone; `null` without a C compiler. */
export async function buildCollector(directory: string): Promise<string | null> {
  const compiler = compilerFor(Deno.build.arch);
  if (Deno.build.os !== "linux" || !compiler) return null;
  const program = `${directory}/cuda`;
  const files = [...PARTS.map((path) => FFI + path), `${HERE}cuda.c`];
  await output(compiler, [...FLAGS, ...files, "-o", program, "-ldl", "-pthread"]);
  return program;
}

/** Figures of the collector alone; none without a C compiler. */
export async function benchCuda(directory: string): Promise<Row[]> {
  const program = await buildCollector(directory);
  if (!program) return [];
  const rows: Row[] = [];
  for (const symbols of [1, 500, 4000]) {
    rows.push(...await time(program, { symbols, threads: 1, millions: 2 }));
  }
  for (const symbols of [1, 500, 4000]) {
    rows.push(...await time(program, { symbols, threads: 16, millions: 5 }));
  }
  rows.push(
    ...await time(program, { ...DISORDER, threads: 1, millions: 2 }),
    ...await time(program, { ...DISORDER, threads: 16, millions: 5 }),
  );
  for (const symbols of [1, 500, 4000]) {
    rows.push(...await instructions(program, { symbols, threads: 1, millions: 1 }));
  }
  rows.push(...await instructions(program, { ...DISORDER, threads: 1, millions: 1 }));
  for (const longest of [undefined, 2000]) {
    rows.push(
      ...await instructions(program, { symbols: 1000, threads: 1, millions: 1, longest }),
      ...await instructions(program, {
        symbols: 500,
        threads: 1,
        millions: 1,
        devices: 8,
        longest,
      }),
    );
  }
  return [...rows, await growth(program), ...await memory(program), await exit()];
}

/**
 * Time per record. The collector's thread decodes buffers and zeroes them; the launching threads
 * request buffers and return them. With more threads, buffers come from the caches of other cores and
 * out of order.
 */
async function time(program: string, load: Load): Promise<Row[]> {
  const runs: Figures[] = [];
  for (let i = 0; i < 3; i++) runs.push(await run(program, load));
  const median = (of: "read_ns" | "recycle_ns" | "lend_ns") =>
    runs.map((figures) => figures[of]).sort((a, b) => a - b)[1]!;
  const size = `${sizeOf(load)}, ${countOf(load.threads, "thread")}`;
  return [
    {
      what: `CUDA kernel record, collector's thread, ${size}`,
      figure: median("read_ns"),
      unit: "ns",
      ...load.symbols === 500 ? { target: { atMost: 25 } } : {},
      comparison: { what: "zeroing of its memory", figure: median("recycle_ns") },
    },
    {
      what: `CUDA kernel record, launching thread, ${size}`,
      figure: median("lend_ns"),
      unit: "ns",
    },
  ];
}

/** Instructions per record in our code; those of CUPTI's double are the comparison. */
async function instructions(program: string, load: Load): Promise<Row[]> {
  const own = await ownInstructions(program, load);
  const walk = await collected(program, { ...load, millions: 0.1 }, ["next_record"]);
  if (own === null || walk === null) return [];
  return [{
    what: `CUDA kernel record, instructions, ${sizeOf(load)}`,
    figure: own,
    unit: "",
    ...load.symbols === 500 && !load.disorder ? { target: { atMost: 100 } } : {},
    comparison: { what: "of CUPTI's double, in addition", figure: walk },
  }];
}

/** Instructions per record in our code, or `null` without valgrind. */
export function ownInstructions(program: string, load: Load): Promise<number | null> {
  return collected(program, load, ["records_read", "next_record"]);
}

/** Instructions per record, or `null` without valgrind; a call of `toggles` starts or stops the count. */
async function collected(program: string, load: Load, toggles: string[]): Promise<number | null> {
  const directory = program.slice(0, program.lastIndexOf("/"));
  const args = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
  for (const name of toggles) args.push(`--toggle-collect=${name}`);
  const traced = await output("valgrind", [...args, program, ...programArgs(program, load)]).catch(
    () => null,
  );
  if (!traced) return null;
  await Deno.remove(`${directory}/segments`, { recursive: true });
  const { records } = JSON.parse(traced.stdout) as Figures;
  return Number(traced.stderr.match(/Collected : (\d+)/)![1]) / records;
}

async function growth(program: string): Promise<Row> {
  const { halfway_kib, after_kib } = await run(program, {
    symbols: 500,
    threads: 1,
    millions: 100,
  });
  return {
    what: "CUDA collector, memory growth, second half of 100 million records",
    figure: after_kib - halfway_kib,
    unit: "KiB",
    target: { atMost: 64 },
  };
}

/** Resident memory at the usual rate, and at the greatest one. */
async function memory(program: string): Promise<Row[]> {
  const symbols = { symbols: 500, devices: 8, longest: 2000 };
  const paced = await run(program, { ...symbols, threads: 1, millions: 0.2, rate: 20_000 });
  const storm = await run(program, { ...symbols, threads: 16, millions: 5 });
  return [{
    what: "CUDA collector, resident memory, 20,000 records/s, 500 long symbols on 8 devices",
    figure: paced.after_kib,
    unit: "KiB",
    target: { atMost: 4096 },
    comparison: { what: "as fast as possible", figure: storm.after_kib },
  }];
}

async function exit(): Promise<Row> {
  const took_ms: number[] = [];
  for (let i = 0; i < 5; i++) {
    const { books: [own] } = await runScenario("timed_exit");
    took_ms.push(parseInt(own!.cells.get("exit_nanoseconds  ")!) / 1e6);
  }
  return {
    what: "CUDA process, exit()",
    figure: took_ms.sort((a, b) => a - b)[2]!,
    unit: "ms",
    target: { atMost: 100 },
  };
}

async function run(program: string, load: Load): Promise<Figures> {
  const { stdout } = await output(program, programArgs(program, load));
  await Deno.remove(`${program.slice(0, program.lastIndexOf("/"))}/segments`, { recursive: true });
  return JSON.parse(stdout);
}

function programArgs(program: string, load: Load): string[] {
  const { symbols, threads, millions, devices = 1, longest = 0, disorder = 0, rate = 0 } = load;
  const directory = program.slice(0, program.lastIndexOf("/"));
  const numbers = [symbols, threads, millions, devices, longest, disorder, rate];
  return [`${directory}/segments/cuda`, ...numbers.map(String)];
}

async function output(program: string, args: string[]) {
  const { success, stdout, stderr } = await command([program, ...args]).output();
  const text = new TextDecoder();
  const written = { stdout: text.decode(stdout), stderr: text.decode(stderr) };
  if (!success) throw new Error(`${program} failed:\n${written.stderr}`);
  return written;
}

function sizeOf({ symbols, devices = 1, longest, disorder }: Load): string {
  const names = longest ? ` of 300 to ${longest} bytes` : "";
  const places = devices > 1 ? ` on ${devices} devices` : "";
  return `${countOf(symbols, "symbol")}${names}${places}${disorder ? ", out of order" : ""}`;
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
