/** What reading the segments of CUDA processes costs, and how old their numbers are in an answer. */

import { Recorder } from "../../local/recorder.ts";
import { createCudaSource } from "../../local/cuda.ts";
import { stampOf, startStamping } from "../segment/stamping.ts";
import { buildWriter, startWriter, type Writer } from "../segment/writer.ts";
import { readLocal } from "../stack.ts";
import type { Row } from "./row.ts";

const PROCESSES = 8;
const FRAMES = 4_096;
const READS = 100;

/** Figures of segments; none without a C compiler. */
export async function benchSegments(directory: string): Promise<Row[]> {
  const program = await buildWriter(directory);
  return program
    ? [...await benchRead(program, directory), await benchAge(program, directory)]
    : [];
}

/** Reading alone, and with every value changed, which is what a workload never does. */
async function benchRead(program: string, directory: string): Promise<Row[]> {
  const path = `${directory}/segments/bench`;
  await using stack = new AsyncDisposableStack();
  const writers: Writer[] = [];
  for (let i = 0; i < PROCESSES; i++) {
    const writer = stack.use(await startWriter(program, path));
    await writer.tell("series cuda_kernels_nanoseconds 3");
    writers.push(writer);
  }
  const change = async (frames: number) => {
    for (const writer of writers) {
      await writer.tell(`fill 0 ${frames}`);
      await writer.tell("publish");
    }
  };
  using source = createCudaSource({ directories: [path], ask: null });
  const recorder = new Recorder(0n, () => 1n);
  await change(FRAMES);
  await source.sample(recorder);
  recorder.cut(1n);
  const read = async (frames: number) => {
    const took: number[] = [];
    for (let i = 0; i < READS / 4; i++) {
      await change(frames);
      const start_ms = performance.now();
      await source.refresh?.(recorder);
      took.push(performance.now() - start_ms);
      recorder.cut(1n);
    }
    return took.sort((a, b) => a - b)[took.length >> 1]!;
  };
  const what = `a snapshot of ${PROCESSES} processes of ${FRAMES} frames read`;
  return [
    {
      what: `${what}, 100 of each changed`,
      figure: await read(100),
      unit: "ms",
      target: { atMost: 5 },
    },
    { what: `${what}, all changed`, figure: await read(FRAMES), unit: "ms" },
  ];
}

/** From publication to the answer's last byte. */
async function benchAge(program: string, directory: string): Promise<Row> {
  await using run = await startStamping(program, directory);
  const ages: number[] = [];
  for (let i = 0; i < READS; i++) {
    await new Promise((done) => setTimeout(done, 25));
    const stamp_ms = stampOf(await readLocal(run));
    ages.push(performance.timeOrigin + performance.now() - stamp_ms);
  }
  ages.sort((a, b) => a - b);
  return {
    what: "age of a number from record delivery to the HTTP answer, p95",
    figure: ages[Math.floor(READS * 0.95)]!,
    unit: "ms",
    target: { atMost: 50 },
    beside: { what: "median", figure: ages[READS >> 1]! },
  };
}
