/** Metrics from segments: recorded as they grow, to the last values of a killed process. */

import assert from "node:assert/strict";
import type { Series, Window } from "@service/core";
import { quantity } from "@service/core/sum";
import { buildWriter, startWriter, type Writer } from "../../../tests/segment/writer.ts";
import { temporaryDirectory } from "../../../tests/temporary_directory.ts";
import { type ActivityOptions, createActivitySource } from "./source.ts";
import { openSegmentAsk } from "../../base/native.ts";
import { Recorder } from "../recorder.ts";
import { missingCompiler, testUnless } from "../../../tests/skipping.ts";

const built = await Deno.makeTempDir({ prefix: "service-test-" });
addEventListener("unload", () => Deno.removeSync(built, { recursive: true }));
const program = await buildWriter(built) ?? "";
const test = testUnless(missingCompiler(program));
const ask = openSegmentAsk(new URL("../../../ffi/build/libservice.so", import.meta.url).pathname);

/** A source over a directory, and a recorder with its records. */
function watch(directories: string[], options: Partial<ActivityOptions> = {}) {
  const source = createActivitySource({ directories, ask: null, ...options });
  const recorder = new Recorder(0n, () => 1n);
  let at = 1n;
  const cut = () => recorder.cut(at++);
  return {
    recorder,
    async tick(): Promise<Window> {
      await source.sample(recorder);
      return cut();
    },
    async refresh(): Promise<Window> {
      await source.refresh?.(recorder);
      return cut();
    },
    canRefresh: () => source.canRefresh?.(),
    [Symbol.dispose]: () => source[Symbol.dispose](),
  };
}

function find<Type extends Series["type"]>(window: Window, name: string, type: Type) {
  return [...window.series.values()].filter((series): series is Extract<Series, { type: Type }> =>
    series.name === name && series.type === type
  );
}

function states(window: Window) {
  return find(window, "profiler_capture_state", "gauge").map(({ value, tags }) => ({
    value,
    tags,
  }));
}

/** Frames as `name value/samples`. */
function frames(window: Window, name: string): string[] {
  return find(window, name, "profile").flatMap((series) =>
    [...series.frames].map(([frame, { value, samples }]) =>
      `${frame} ${quantity(value)}/${samples}`
    )
  );
}

async function kernels(writer: Writer): Promise<number> {
  const series = await writer.tell("series cuda_kernels_nanoseconds 3 device.uuid GPU-1");
  await writer.tell("state 1");
  return await writer.tell(`frame ${series} _Z1kv`);
}

test("a sum beyond 64 bits stays the greatest one, and the process is read on", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/b`;
  await using writer = await startWriter(program, path);
  using watched = watch([path]);
  const cell = await kernels(writer);
  for (const expected of [`_Z1kv ${2n ** 64n - 1n}/1`, "_Z1kv 0/1"]) {
    await writer.tell(`add ${cell} ${2n ** 64n - 1n} 1`);
    await writer.tell("publish");
    const window = await watched.tick();
    assert.deepEqual(frames(window, "cuda_kernels_nanoseconds"), [expected]);
    assert.deepEqual(window.errors, []);
  }
});

test("a profile's frames are recorded as they grow, under the process's own pid", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/b`;
  await using writer = await startWriter(program, path);
  assert.equal(writer.opened, 0);
  using watched = watch([path]);
  const cell = await kernels(writer);
  await writer.tell(`add ${cell} 700 2`);
  assert.deepEqual(
    frames(await watched.tick(), "cuda_kernels_nanoseconds"),
    ["_Z1kv 0/0"]
      .slice(1),
    "nothing is seen before it is published",
  );
  await writer.tell("publish");
  const window = await watched.tick();
  assert.deepEqual(frames(window, "cuda_kernels_nanoseconds"), ["_Z1kv 700/2"]);
  const [series] = find(window, "cuda_kernels_nanoseconds", "profile");
  assert.deepEqual(series?.tags, { "device.uuid": "GPU-1", "process.pid": String(writer.pid) });
  await writer.tell(`add ${cell} 18446744073709550000 1`);
  await writer.tell("publish");
  assert.deepEqual(frames(await watched.tick(), "cuda_kernels_nanoseconds"), [
    "_Z1kv 18446744073709550000/1",
  ]);
  assert.equal(find(await watched.tick(), "cuda_kernels_nanoseconds", "profile").length, 1);
  assert.equal(find(await watched.refresh(), "cuda_kernels_nanoseconds", "profile").length, 0);
});

test("metrics have the names that the segment gives them, whichever library wrote it", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/b`;
  await using writer = await startWriter(program, path);
  using watched = watch([path]);
  await writer.tell("state 1");
  for (const prefix of ["cuda", "rocm"]) {
    const series = await writer.tell(`series ${prefix}_kernels_nanoseconds 3`);
    await writer.tell(`add ${await writer.tell(`frame ${series} k_${prefix}`)} 5 1`);
  }
  await writer.tell("publish");
  const window = await watched.tick();
  assert.deepEqual(frames(window, "cuda_kernels_nanoseconds"), ["k_cuda 5/1"]);
  assert.deepEqual(frames(window, "rocm_kernels_nanoseconds"), ["k_rocm 5/1"]);
});

test("a gauge or a counter is the quotient of two integers, and a gauge may pause", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/b`;
  await using writer = await startWriter(program, path);
  using watched = watch([path]);
  const watts = await writer.tell(`cell ${await writer.tell("series watts 0")} 0`);
  const joules = await writer.tell(`cell ${await writer.tell("series joules_total 1")} 0`);
  const readings: number[][] = [];
  for (const [power, divisor, energy] of [[700_250, 1000, 2_500], [0, 0, 2_500], [0, 1, 2_750]]) {
    await writer.tell(`set ${watts} ${power} ${divisor}`);
    await writer.tell(`set ${joules} ${energy} 1000`);
    await writer.tell("publish");
    const window = await watched.tick();
    readings.push([
      ...find(window, "watts", "gauge").map(({ value }) => Number(value)),
      ...find(window, "joules_total", "counter").map(({ total }) => Number(total)),
    ]);
  }
  assert.deepEqual(readings, [[700.25, 2.5], [0], [0, 0.25]]);
});

test("what a killed process published last is counted, and its file removed", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/b`;
  await using writer = await startWriter(program, path);
  using watched = watch([path]);
  const cell = await kernels(writer);
  await writer.tell("fork");
  await watched.tick();
  await writer.tell(`add ${cell} 5 1`);
  await writer.tell("publish");
  await writer.kill();
  const last = await watched.tick();
  assert.deepEqual(frames(last, "cuda_kernels_nanoseconds"), ["_Z1kv 5/1"]);
  assert.deepEqual([...Deno.readDirSync(path)], []);
  assert.equal(watched.canRefresh(), false);
  const after = await watched.tick();
  assert.equal(find(after, "cuda_kernels_nanoseconds", "profile").length, 0, "it ages out");
});

test("whether GPU activity is captured is said of the whole, and of each process", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/b`;
  using watched = watch([path]);
  const reason = "0 until a process of the workload uses a GPU and is captured";
  const whole = (value: number) => ({ value, tags: { capture: "gpu_kernels", reason } });
  assert.deepEqual(states(await watched.tick()), [whole(0)]);
  assert.equal(watched.canRefresh(), false);
  await using writer = await startWriter(program, path);
  const pid = { capture: "gpu_kernels", "process.pid": String(writer.pid) };
  assert.deepEqual(states(await watched.tick()), [{ value: 0, tags: pid }, whole(0)]);
  await writer.tell("state 1");
  assert.deepEqual(states(await watched.tick()), [{ value: 1, tags: pid }, whole(1)]);
  await writer.tell("state 2 usurper");
  const interrupted = await watched.tick();
  assert.deepEqual(states(interrupted), [{ value: 0, tags: pid }, whole(1)]);
  assert.match(interrupted.errors[0]!.message, /not captured for now: usurper/);
  assert.deepEqual(interrupted.errors[0]!.tags, { "process.pid": String(writer.pid) });
  assert.equal((await watched.tick()).errors.length, 0, "once for each change");
  await writer.tell("state 1");
  assert.match((await watched.tick()).errors[0]!.message, /captured again/);
  await writer.tell("state 3 held_by_ncu");
  const refused = await watched.tick();
  const held = { ...pid, reason: "held_by_ncu" };
  assert.deepEqual(states(refused), [{ value: 0, tags: held }, whole(1)]);
  const [resource] = refused.resources.values();
  assert.deepEqual(resource?.attributes, { "profiler.capture": "refused: held_by_ncu" });
});

test("a process that has just begun is seen by the first who asks", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/b`;
  using watched = watch([path]);
  await watched.tick();
  await using writer = await startWriter(program, path);
  await writer.tell(`add ${await kernels(writer)} 5 1`);
  await writer.tell("publish");
  assert(watched.canRefresh());
  assert.deepEqual(frames(await watched.refresh(), "cuda_kernels_nanoseconds"), ["_Z1kv 5/1"]);
});

testUnless(missingCompiler(program) ?? (ask ? null : "libservice.so is not built"))(
  "values are newer than the request, and histograms are exact between two answers",
  async () => {
    await using directory = await temporaryDirectory();
    const path = `${directory.path}/a/b`;
    await using writer = await startWriter(program, path);
    using watched = watch([path], { ask });
    const series = await writer.tell("series cuda_kernel_duration_nanoseconds 2");
    await writer.tell(`add ${await writer.tell(`cell ${series} 8312`)} 3 0`);
    await writer.tell(`add ${await writer.tell(`cell ${series} 4294967295`)} 3000 3`);
    await writer.tell(`set ${await writer.tell(`cell ${series} 4294967294`)} 900 1100`);
    await writer.tell("publish");
    const [asked] = find(await watched.tick(), "cuda_kernel_duration_nanoseconds", "histogram");
    assert.equal(asked?.count, 0, "not while a question is open");
    await writer.tell("answer");
    const [gained] = find(await watched.tick(), "cuda_kernel_duration_nanoseconds", "histogram");
    assert.deepEqual([gained?.count, gained?.sum, gained?.min, gained?.max], [3, 3000, 900, 1100]);
    assert.deepEqual(gained?.buckets, { bins: new Map([[8312, 3]]) });
    const counter = await writer.tell("series cuda_dropped_records_total 1");
    await writer.tell(`serve ${await writer.tell(`cell ${counter} 0`)}`);
    const nanoseconds = (window: Window) =>
      find(window, "cuda_dropped_records_total", "counter")
        .reduce((sum, { total }) => sum + BigInt(quantity(total)), 0n);
    let newest_ns = nanoseconds(await watched.tick());
    const asked_ns = BigInt(Date.now() + 1) * 1_000_000n;
    // A busy machine answers late, and then a later reading has it.
    for (let tries = 0; newest_ns < asked_ns && tries < 2_000; tries++) {
      newest_ns += nanoseconds(await watched.refresh());
      await new Promise((done) => setTimeout(done, 1));
    }
    assert(newest_ns >= asked_ns, `${newest_ns} is not newer than ${asked_ns}`);
  },
);
