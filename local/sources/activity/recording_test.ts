/** Damaged segments: refused with a reason, or read as no more than was written. */

import assert from "node:assert/strict";
import fc from "fast-check";
import type { Series } from "@service/core";
import { rounded } from "@service/core/sum";
import { buildWriter, startWriter } from "../../../tests/segment/writer.ts";
import { temporaryDirectory } from "../../../tests/temporary_directory.ts";
import { createActivitySource } from "./source.ts";
import { Recorder } from "../recorder.ts";
import { Recording } from "./recording.ts";
import { Segment } from "../segments/segment.ts";
import { SegmentRefusal } from "../segments/layout.ts";
import { missingCompiler, testUnless } from "../../../tests/skipping.ts";

const built = await Deno.makeTempDir({ prefix: "service-test-" });
addEventListener("unload", () => Deno.removeSync(built, { recursive: true }));
const program = await buildWriter(built) ?? "";
const test = testUnless(missingCompiler(program));

/** What {@linkcode deadSegment} has written: all of its numbers, added. */
const WRITTEN = 100 + 7 + 700 + 2 + 300 + 1 + 3 + 3000 + 3 + 2 * 50;

/** The path of a segment with every type of series, whose writer is gone. */
async function deadSegment(directory: string): Promise<string> {
  await using writer = await startWriter(program, `${directory}/a/b`);
  const add = async (series: string, cell: string, values: string) => {
    const at = await writer.tell(`series ${series}`);
    await writer.tell(`add ${await writer.tell(cell.replace("$", String(at)))} ${values}`);
  };
  await add("cuda_graph_trace_mode 0", "cell $ 0", "100 1");
  await add("cuda_dropped_records_total 1", "cell $ 0", "7 0");
  await add("cuda_kernels_nanoseconds 3 device.uuid GPU-1", "frame $ _Z1kv", "700 2");
  await add("cuda_kernels_nanoseconds 3 device.uuid GPU-2", "frame $ _Z1kv", "300 1");
  await add("cuda_kernel_duration_nanoseconds 2", "cell $ 8312", "3 0");
  await add("cuda_kernel_duration_nanoseconds 2", "cell $ 4294967295", "3000 3");
  await writer.tell(`fill ${await writer.tell("series cuda_graphs_nanoseconds 3")} 50`);
  await writer.tell("publish");
  await writer.tell("publish");
  const [{ name } = { name: "" }] = Deno.readDirSync(`${directory}/a/b`);
  return `${directory}/a/b/${name}`;
}

/** All numbers that reading the segment twice reports, added. */
function report(path: string): number {
  using segment = Segment.open(path);
  if (!segment) return 0;
  const recording = new Recording(segment);
  const recorder = new Recorder(0n, () => 1n);
  for (const final of [false, true]) {
    if (recording.read(final)) recording.record(recorder, { tags: {}, all: true });
  }
  assert(segment.state && segment.reason.length < 5_000);
  return [...recorder.cut(1n).series.values()]
    .filter(({ name }) => name !== "profiler_replaced_names_total")
    .reduce((sum, series) => sum + numbers(series), 0);
}

function numbers(series: Series): number {
  switch (series.type) {
    case "gauge":
      return Number(series.value);
    case "counter":
      return rounded(series.total);
    case "profile":
      return [...series.frames.values()]
        .reduce((sum, { value, samples }) => sum + rounded(value) + samples, 0);
    case "histogram": {
      const bins = series.buckets && "bins" in series.buckets ? series.buckets.bins : new Map();
      return [...bins.values()].reduce((sum, times) => sum + times, series.count) +
        rounded(series.sum);
    }
  }
}

test("a segment changed in any way is refused, or reports no more than was written", async () => {
  await using directory = await temporaryDirectory();
  const path = await deadSegment(directory.path);
  assert.equal(report(path), WRITTEN);
  const bytes = Deno.readFileSync(path);
  const header = new DataView(bytes.buffer);
  const used = header.getUint32(76, true);
  const places = [
    { at: 0, bytes: 136 },
    { at: header.getUint32(36, true), bytes: 16 * header.getUint32(68, true) },
    { at: header.getUint32(40, true), bytes: 8 * header.getUint32(72, true) },
    { at: header.getUint32(52, true), bytes: used },
  ];
  const word = fc.oneof(
    fc.integer({ min: 0, max: 300 }),
    fc.integer({ min: 0, max: 0xffffffff }),
    fc.constantFrom(used, used - 4, 0xfffffffe, 0xffffffff, 4096, 2 ** 22),
  );
  const change = fc.constantFrom(...places).chain(({ at, bytes }) =>
    fc.record({ at: fc.integer({ min: 0, max: bytes / 4 - 1 }).map((i) => at + 4 * i), word })
  );
  using file = Deno.openSync(path, { write: true });
  const write = (at: number, bytes: Uint8Array) => {
    file.seekSync(at, Deno.SeekMode.Start);
    file.writeSync(bytes);
  };
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      for (const { at, word } of changes) {
        write(at, new Uint8Array(new Uint32Array([word]).buffer));
      }
      try {
        assert(report(path) <= WRITTEN);
      } catch (error) {
        if (!(error instanceof SegmentRefusal)) throw error;
      } finally {
        for (const { at } of changes) write(at, bytes.subarray(at, at + 4));
      }
    }),
    { numRuns: 10_000, interruptAfterTimeLimit: 5_000 },
  );
  assert.equal(report(path), WRITTEN);
});

test(
  "a corrupt, cut, foreign or future segment is counted, and named once with the reason",
  async (t) => {
    await using directory = await temporaryDirectory();
    const bytes = Deno.readFileSync(await deadSegment(directory.path));
    const future = bytes.slice();
    future[8] = 2;
    const cases: [string, RegExp, (path: string) => void][] = [
      ["cut short", /the file has 5000/, (path) => Deno.writeFileSync(path, bytes.slice(0, 5000))],
      [
        "cut in the header",
        /was cut short/,
        (path) => Deno.writeFileSync(path, bytes.slice(0, 50)),
      ],
      ["of a future version", /version is 2, not 1/, (path) => Deno.writeFileSync(path, future)],
      ["no segment", /no segment/, (path) => Deno.writeFileSync(path, bytes.map(() => 1))],
      ["a directory", /not a plain file/, (path) => Deno.mkdirSync(path)],
      ["a link", /not a plain file/, (path) => Deno.symlinkSync("/etc/passwd", path)],
    ];
    for (const [what, why, make] of cases) {
      await t.step(what, async () => {
        const path = `${directory.path}/${what.replaceAll(" ", "_")}`;
        Deno.mkdirSync(path);
        make(`${path}/1-1`);
        using source = createActivitySource({ directories: [path], ask: null });
        const recorder = new Recorder(0n, () => 1n);
        const tick = async () => {
          await source.sample(recorder);
          return recorder.cut(1n);
        };
        const { series, errors } = await tick();
        const refused = series.get([...series.keys()].find((key) => /refused/.test(key))!);
        assert(refused?.type === "counter");
        assert.equal(refused.total, 1);
        assert.match(errors[0]!.message, why);
        assert.equal((await tick()).errors.length, 0);
      });
    }
  },
);
