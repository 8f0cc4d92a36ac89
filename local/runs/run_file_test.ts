/** Run files keep all windows of a run, whatever the disk and the end of the profiler do. */

import assert from "node:assert/strict";
import fc from "fast-check";
import type { PackedWindow } from "@service/core/packed";
import { Recorder } from "../sources/recorder.ts";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { runFilePath } from "./directory.ts";
import { RunFile, type RunFileOptions } from "./run_file.ts";
import { contents, INSTANCE, packedRun } from "./testdata/run.ts";
import { createWindowFile, type WindowFile } from "./window_file.ts";

const PATIENCE_MS = 10_000;

/** A run file in a directory, and the warnings of it. */
function runIn(directory: string, options: Partial<RunFileOptions> = {}) {
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  const run = new RunFile({ instance: INSTANCE, directory, warn, ...options });
  return { run, warnings, path: runFilePath(directory, INSTANCE.instance_id) };
}

function pendingOf(run: RunFile): unknown {
  const recorder = new Recorder(0n, () => 1n);
  run.sample(recorder);
  const [gauge] = recorder.cut(1n).series.values();
  assert.equal(gauge!.name, "profiler_run_file_pending_windows");
  return "value" in gauge! && gauge.value;
}

/** Adds windows, each when those before it are in the file. */
async function addAll(run: RunFile, windows: readonly PackedWindow[]): Promise<void> {
  for (const window of windows) {
    await run.add(window);
    await until(() => run.pending === 0);
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("all windows of a run are in its file, which only its owner can read", async () => {
  await using directory = await temporaryDirectory();
  const { run, warnings, path } = runIn(`${directory.path}/runs`);
  await addAll(run, await packedRun(3));
  await run.finish(PATIENCE_MS);
  assert.deepEqual(await contents(path), { spans: ["0-10", "10-20", "20-30"], total: 30 });
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  assert.equal((await Deno.stat(`${directory.path}/runs`)).mode! & 0o777, 0o700);
  assert.deepEqual(warnings, []);
  assert.equal(pendingOf(run), 0);
});

Deno.test("a file that is cut at any byte has all windows before the cut", async () => {
  await using directory = await temporaryDirectory();
  const { run, path } = runIn(directory.path);
  const windows = await packedRun(3, { gauges: (i) => [`g${i}`] });
  await addAll(run, windows);
  await run.finish(PATIENCE_MS);
  const bytes = await Deno.readFile(path);
  const cut = `${directory.path}/cut`;
  const ends = endsOf(windows);
  for (let length = 0; length <= bytes.length; length++) {
    await Deno.writeFile(cut, bytes.subarray(0, length));
    const count = ends.filter((end) => end <= length).length;
    const spans = ["0-10", "10-20", "20-30"].slice(0, count);
    assert.deepEqual(await contents(cut), { spans, total: 10 * count });
  }
  assert.equal((await contents(cut)).spans.length, 3);
});

/** Where in a file each window ends. */
function endsOf(windows: readonly PackedWindow[]): number[] {
  let end = 0;
  return windows.map(({ frame, block }, i) => {
    const hasBlock = block === windows[i - 1]?.block;
    return end += frame.bytes.length + (hasBlock ? 0 : block.frame.bytes.length);
  });
}

Deno.test("a damaged byte costs one window, or those of a damaged block", async () => {
  await using directory = await temporaryDirectory();
  const { run, path } = runIn(directory.path);
  const windows = await packedRun(3);
  await addAll(run, windows);
  await run.finish(PATIENCE_MS);
  const bytes = await Deno.readFile(path);
  const ofBlock = windows[0]!.block.frame.bytes.length;
  const each = windows[0]!.frame.bytes.length;
  const damaged = `${directory.path}/damaged`;
  for (let at = 0; at < bytes.length; at++) {
    const other = bytes.slice();
    other[at]! ^= 255;
    await Deno.writeFile(damaged, other);
    const lost = Math.floor((at - ofBlock) / each);
    const spans = ["0-10", "10-20", "20-30"].filter((_, i) => at >= ofBlock && i !== lost);
    assert.deepEqual((await contents(damaged)).spans, spans, `byte ${at}`);
  }
});

Deno.test("over its limit a file loses the resolution of its oldest windows, and no count", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2_000, max: 6_000 }),
      fc.array(fc.nat(12), { minLength: 100, maxLength: 200 }),
      async (limit, sizes) => {
        await using directory = await temporaryDirectory();
        const { run, path, warnings } = runIn(directory.path, { limit });
        const gauges = (i: number) => Array.from({ length: sizes[i]! }, (_, at) => `gauge_${at}`);
        const windows = await packedRun(sizes.length, { gauges });
        for (const window of windows) {
          await addAll(run, [window]);
          assert((await Deno.stat(path).catch(() => ({ size: 0 }))).size <= limit);
        }
        await run.finish(PATIENCE_MS);
        assert.deepEqual(warnings, []);
        assert((await Deno.stat(path)).size <= limit);
        const { spans, total } = await contents(path);
        assert.equal(total, 10 * sizes.length);
        spans.reduce((a, b) => (assert.equal(a.split("-")[1], b.split("-")[0]), b), "-0");
        const lengths = spans.map((span) => -span.split("-").map(Number).reduce((a, b) => a - b));
        assert.equal(lengths.at(-1), 10);
        assert(lengths[0]! > 10);
      },
    ),
    { numRuns: 10 },
  );
});

Deno.test("windows that cannot be merged any more leave the file, with one warning", async () => {
  await using directory = await temporaryDirectory();
  const limit = 4_000;
  const { run, path, warnings } = runIn(directory.path, { limit });
  // Each has more identities than the file has room for.
  const gauges = (i: number) => Array.from({ length: 40 }, (_, at) => `gauge_${i}_${at}`);
  await addAll(run, await packedRun(12, { gauges }));
  await run.finish(PATIENCE_MS);
  assert((await Deno.stat(path)).size <= limit);
  assert.equal((await contents(path)).spans.at(-1), "110-120");
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /left out/);
});

Deno.test("a disk that does not answer delays nobody, and what waits is bounded", async () => {
  await using directory = await temporaryDirectory();
  const { run, path } = runIn(directory.path, { create: () => new Promise(() => {}) });
  const gauges = () => Array.from({ length: 5_000 }, (_, at) => `gauge_${at}`);
  for (const window of await packedRun(200, { gauges })) await run.add(window);
  assert.equal(pendingOf(run), 200);
  const started_ms = performance.now();
  await run.finish(50);
  assert(performance.now() - started_ms < 5_000);
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
});

/** A file whose appends end half-way while the disk is full. */
function fillable() {
  const disk = { full: false, appended: 0 };
  return {
    disk,
    async create(path: string): Promise<WindowFile> {
      const file = await createWindowFile(path);
      return {
        get size() {
          return file.size;
        },
        bytesOf: (window) => file.bytesOf(window),
        append(window) {
          disk.appended++;
          if (disk.full) return Promise.reject(new Error("No space left on device"));
          return file.append(window);
        },
        [Symbol.dispose]: () => file[Symbol.dispose](),
      };
    },
  };
}

Deno.test("while the disk is full windows wait, with one warning, and are written afterwards", async () => {
  await using directory = await temporaryDirectory();
  const { disk, create } = fillable();
  const { run, path, warnings } = runIn(directory.path, { create });
  const [first, second, third, last] = await packedRun(4);
  await addAll(run, [first!]);
  disk.full = true;
  await run.add(second!);
  await until(() => disk.appended === 2);
  await run.add(third!);
  assert.equal(pendingOf(run), 2);
  disk.full = false;
  await run.add(last!);
  await run.finish(PATIENCE_MS);
  assert.equal((await contents(path)).total, 40);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /No space left/);
  assert.equal(pendingOf(run), 0);
});

Deno.test("a run that ends while the disk is full says how many windows its file lacks", async () => {
  await using directory = await temporaryDirectory();
  const { disk, create } = fillable();
  const { run, path, warnings } = runIn(directory.path, { create });
  disk.full = true;
  for (const window of await packedRun(3)) await run.add(window);
  await run.finish(PATIENCE_MS);
  assert.equal(warnings.length, 2);
  assert.match(warnings[0]!, /No space left/);
  assert.equal(warnings[1], `3 windows of the run are not in ${path}`);
});

Deno.test("a run leaves a file only if a window is in it", async () => {
  for (const written of [0, 1]) {
    await using directory = await temporaryDirectory();
    const { disk, create } = fillable();
    const { run, path } = runIn(directory.path, { create });
    const windows = await packedRun(2);
    await addAll(run, windows.slice(0, written));
    disk.full = true;
    await run.add(windows[written]!);
    await until(() => disk.appended === written + 1);
    assert((await Deno.stat(path)).isFile);
    await run.finish(PATIENCE_MS);
    const left = await Array.fromAsync(Deno.readDir(directory.path));
    assert.equal(left.length, written);
  }
});

Deno.test("the newest twenty run files are kept, and those of living runs", async () => {
  await using directory = await temporaryDirectory();
  const files = await Promise.all(Array.from({ length: 25 }, async (_, i) => {
    const path = runFilePath(directory.path, i.toString(16).padStart(12, "0"));
    const file = await createWindowFile(path);
    await Deno.utime(path, 1_000 + i, 1_000 + i);
    if (i !== 2) file[Symbol.dispose]();
    return { path, file };
  }));
  const unfinished = runFilePath(directory.path, "00000000000a") + ".x.tmp";
  await Deno.writeTextFile(unfinished, "");
  await Deno.writeTextFile(`${directory.path}/other`, "");
  const { run, path } = runIn(directory.path);
  await addAll(run, await packedRun(1));
  await run.finish(PATIENCE_MS);
  const left = (await Array.fromAsync(Deno.readDir(directory.path), ({ name }) => name)).sort();
  const kept = files.filter((_, i) => i === 2 || i > 5).map((file) => file.path);
  assert.deepEqual(
    left.map((name) => `${directory.path}/${name}`),
    [...kept, path, `${directory.path}/other`].sort(),
  );
  files[2]!.file[Symbol.dispose]();
});
