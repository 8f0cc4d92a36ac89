/**
 * Benchmark of the CUDA capture in a process under the strict double of CUPTI: what launches, records
 * and memory cost beyond a profiler that reads nothing, beside `graphsignal` where it is installed.
 */

import { compiler } from "../doubles/cuda/build.ts";
import { compare, type Comparison, type Figures, findProfilers, PEER } from "./cuda_profilers.ts";
import type { Row } from "./row.ts";

/** Load and target in nanoseconds of a row about records. */
interface RecordLoad {
  what: string;
  words: string[];
  atMost: number;
}

const LONG = "of 300 to 2000 bytes";
const RECORD_LOADS: RecordLoad[] = [
  { what: "500 symbols", words: ["symbols=500"], atMost: 40 },
  { what: "4000 symbols", words: ["symbols=4000"], atMost: 60 },
  { what: `4000 symbols ${LONG}`, words: ["symbols=4000", "length=2000"], atMost: 60 },
  {
    what: `500 symbols ${LONG} on 8 devices`,
    words: ["symbols=500", "length=2000", "devices=8"],
    atMost: 40,
  },
  { what: "4000 symbols on 8 devices", words: ["symbols=4000", "devices=8"], atMost: 60 },
  {
    what: "500 symbols, short kernels out of order",
    words: ["symbols=500", "order=out", "streams=8", "threads=2"],
    atMost: 60,
  },
];

/** Costs of the profilers for a load. */
type Measure = (load: Omit<Comparison, "directory">) => Promise<Figures>;

/** Figures of the capture; none without a C compiler. */
export async function benchCudaProcess(directory: string): Promise<Row[]> {
  if (Deno.build.os !== "linux" || !compiler) return [];
  const profilers = await findProfilers();
  const measure: Measure = (load) => compare(profilers, { directory, ...load });
  const rows: Row[] = [];
  for (const threads of [1, 2, 8]) rows.push(await launches(measure, threads));
  rows.push(await losses(measure));
  for (const load of RECORD_LOADS) rows.push(await records(measure, load));
  // The one that reads nothing keeps buffers of its own.
  const memoryOf: Measure = (load) =>
    compare({ ...profilers, nothing: "none" }, { directory, ...load });
  return [...rows, await arrivals(measure), ...await memory(memoryOf)];
}

/** A million launches in a second, in bursts of a millisecond. */
function paced(threads: number): Omit<Comparison, "directory"> {
  const words = ["records=1000000", "rate=1000000", "settle=0", `threads=${threads}`];
  return { words, cost: ({ launch_ns }) => launch_ns };
}

async function launches(measure: Measure, threads: number): Promise<Row> {
  return beyond(await measure(paced(threads)), {
    what: `CUDA launch and its record, ${threads} thread${threads > 1 ? "s" : ""}`,
    unit: "ns",
    ...threads < 8 ? { target: { atMost: 5 } } : {},
  });
}

/** Buffers come back late: there is none for most launches. */
async function losses(measure: Measure): Promise<Row> {
  const { nothing } = await measure(paced(1));
  const late = await measure({ ...paced(1), env: { STRICT_DELIVERY: "late" } });
  return beyond({ ...late, nothing }, {
    what: "CUDA launch and its record, 1 thread, buffers come back late",
    unit: "ns",
  });
}

/** Processor time of all threads of a profiler. */
async function records(measure: Measure, { what, words, atMost }: RecordLoad): Promise<Row> {
  const figures = await measure({
    words: ["records=2000000", "rate=2000000", "settle=1200", ...words],
    cost: ({ profiler_ns, delivery_ns, records }) => (profiler_ns + delivery_ns) / records,
  });
  return beyond(figures, {
    what: `CUDA record, all threads, ${what}`,
    unit: "ns",
    target: { atMost },
  });
}

async function arrivals(measure: Measure): Promise<Row> {
  const { own, peer } = await measure({
    words: ["records=10000000", "rate=5000000", "symbols=4000", "duration=100", "streams=4"],
    cost: ({ read, records }) => Math.max(0, 100 - 100 * read / records),
  });
  return {
    what: "CUDA records that are read, 5 million a second, 4000 symbols",
    figure: 100 - own,
    unit: "%",
    target: { atLeast: 90 },
    ...comparisonWith(peer === null ? null : 100 - peer),
  };
}

/** Resident memory of the process, beyond that of one without a profiler at the usual rate. */
async function memory(measure: Measure): Promise<Row[]> {
  const usual = await measure({
    words: ["records=50000", "rate=20000", "settle=0"],
    cost: ({ peak_kib }) => peak_kib / 1024,
  });
  const storm = await measure({
    words: ["records=10000000", "duration=100", "settle=5000"],
    cost: ({ settled_kib }) => settled_kib / 1024,
  });
  return [
    beyond(usual, {
      what: "CUDA capture, resident memory, 20,000 records a second",
      unit: "MiB",
      target: { atMost: 4 },
    }),
    beyond({ ...storm, nothing: usual.nothing }, {
      what: "CUDA capture, resident memory, 5 s after 10 million records",
      unit: "MiB",
    }),
  ];
}

function beyond({ nothing, own, peer }: Figures, row: Omit<Row, "figure">): Row {
  return {
    ...row,
    figure: own - nothing,
    ...comparisonWith(peer === null ? null : peer - nothing),
  };
}

/** The row says that the other product is skipped where it is not installed. */
function comparisonWith(figure: number | null): Pick<Row, "comparison"> {
  return figure === null
    ? { comparison: { what: `${PEER} is skipped: not installed`, figure: 0 } }
    : { comparison: { what: PEER, figure } };
}
