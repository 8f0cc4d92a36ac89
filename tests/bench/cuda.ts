/** What a kernel's record costs in the collector, and what it keeps of a hundred million of them. */

import { compilerFor } from "../../ffi/build.ts";
import type { Row } from "./row.ts";

const HERE = new URL("./", import.meta.url).pathname;
const FFI = new URL("../../ffi/", import.meta.url).pathname;
const SOURCES = [
  "buffers",
  "busy",
  "devices",
  "durations",
  "records",
  "segment",
  "symbols",
  "waits",
];
const GRAPHS = ["graph_ids", "graph_shape", "graphs"];

interface Figures {
  records: number;
  read_ns: number;
  recycle_ns: number;
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
  const files = [...SOURCES, ...GRAPHS].map((name) => `${FFI}${name}.c`);
  await output(compiler, [
    "-O2",
    "-g",
    "-std=gnu11",
    ...files,
    `${HERE}cuda.c`,
    "-o",
    program,
    "-ldl",
    "-pthread",
  ]);
  const rows: Row[] = [];
  for (const threads of [1, 16]) {
    for (const symbols of [1, 500, 4000]) {
      rows.push(...await time(program, { symbols, threads, millions: 10 }));
    }
  }
  for (const symbols of [1, 500, 4000]) {
    rows.push(...await instructions(program, { symbols, threads: 1, millions: 1 }));
  }
  return [...rows, await memory(program)];
}

async function time(program: string, load: Load): Promise<Row[]> {
  const { read_ns, recycle_ns } = await run(program, load);
  const of = `${load.symbols} symbols, ${load.threads} threads`;
  return [{
    what: `CUDA: time of a kernel's record, ${of}`,
    figure: read_ns,
    unit: "ns",
    ...load.symbols === 500 ? { target: { atMost: 25 } } : {},
    beside: { what: "to zero its memory", figure: recycle_ns },
  }];
}

/** Those of reading alone, the walk from record to record included. */
async function instructions(program: string, load: Load): Promise<Row[]> {
  const directory = program.slice(0, program.lastIndexOf("/"));
  const args = [
    "--tool=callgrind",
    "--callgrind-out-file=/dev/null",
    "--toggle-collect=records_read",
  ];
  const said = await output("valgrind", [...args, program, ...words(program, load)]).catch(() =>
    null
  );
  if (!said) return [];
  const { records } = JSON.parse(said.stdout) as Figures;
  await Deno.remove(`${directory}/segments`, { recursive: true });
  return [{
    what: `CUDA: instructions of a kernel's record, ${load.symbols} symbols`,
    figure: Number(said.stderr.match(/Collected : (\d+)/)![1]) / records,
    unit: "",
    ...load.symbols === 500 ? { target: { atMost: 100 } } : {},
  }];
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
  const { success, stdout, stderr } = await new Deno.Command(program, { args }).output();
  const text = new TextDecoder();
  const said = { stdout: text.decode(stdout), stderr: text.decode(stderr) };
  if (!success) throw new Error(`${program} failed:\n${said.stderr}`);
  return said;
}
