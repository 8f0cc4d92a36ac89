/** Benchmark of segments: time to read and merge them, and age of their values in an answer. */

import { Recorder } from "../../local/sources/recorder.ts";
import { createActivitySource } from "../../local/sources/activity/source.ts";
import { Accumulator } from "../../local/watch/accumulator.ts";
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

/** Time to read the files into a window, and to merge it, with few values changed and with all. */
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
  using source = createActivitySource({ directories: [path], ask: null });
  const recorder = new Recorder(0n, () => 1n);
  await change(FRAMES);
  await source.sample(recorder);
  recorder.cut(1n);
  const accumulator = new Accumulator(0n);
  const read = async (frames: number) => {
    const took: number[] = [];
    const merged: number[] = [];
    for (let i = 0; i < READS / 4; i++) {
      await change(frames);
      const start_ms = performance.now();
      await source.refresh?.(recorder);
      const read_ms = performance.now();
      accumulator.add(recorder.cut(1n));
      took.push(read_ms - start_ms);
      merged.push(performance.now() - read_ms);
    }
    return { took_ms: median(took), merged_ms: median(merged) };
  };
  const size = `${PROCESSES} processes of ${FRAMES} frames`;
  const rows: Row[] = [];
  for (
    const [changed, frames] of [["100 of each changed", 100], ["all changed", FRAMES]] as const
  ) {
    const { took_ms, merged_ms } = await read(frames);
    rows.push(
      {
        what: `segment read, ${size}, ${changed}`,
        figure: took_ms,
        unit: "ms",
        target: { atMost: 5 },
      },
      { what: `segment window merge, ${size}, ${changed}`, figure: merged_ms, unit: "ms" },
    );
  }
  return rows;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}

/** Age of a value when the last byte of the answer arrives, counted from its publication. */
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
    what: "value age, record delivery to HTTP answer, p95",
    figure: ages[Math.floor(READS * 0.95)]!,
    unit: "ms",
    target: { atMost: 50 },
    comparison: { what: "median", figure: ages[READS >> 1]! },
  };
}
