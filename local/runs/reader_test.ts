/** The reader of run files merges what ends in a span, and names what is missing. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { type InstanceWindow, type Interval, mergeAll } from "@service/core";
import { type PackedWindow, readWindow, UnknownFormatError } from "@service/core/packed";
import { run } from "../../tests/command.ts";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { runFilePath } from "./directory.ts";
import { RunsReader } from "./reader.ts";
import { INSTANCE, packedRun, SECOND_NS, totalOf } from "./testdata/run.ts";
import { createWindowFile } from "./window_file.ts";

const ID = INSTANCE.instance_id;
const ALL = { from_ns: 0n, to_ns: 10_000n * SECOND_NS };

/** A span in seconds. */
function seconds(from: number, to: number): Interval {
  return { from_ns: BigInt(from) * SECOND_NS, to_ns: BigInt(to) * SECOND_NS };
}

async function write(
  directory: string,
  windows: readonly PackedWindow[],
  id = ID,
): Promise<string> {
  const path = runFilePath(directory, id);
  using file = await createWindowFile(path);
  for (const window of windows) await file.append(window);
  return path;
}

async function readOne(
  directory: string,
  span: Interval,
  selection = {},
): Promise<InstanceWindow | undefined> {
  const [read, ...more] = await Array.fromAsync(
    new RunsReader(directory).windows([ID], span, selection),
  );
  assert.equal(more.length, 0);
  return read;
}

Deno.test("a span is the merge of the windows that end in it", async () => {
  await using directory = await temporaryDirectory();
  const packed = await packedRun(20, { gauges: (i) => [`gauge_${i % 3}`] });
  await write(directory.path, packed);
  const windows = packed.map(({ frame, block }) => readWindow(frame, block).window);
  const instants = fc.integer({ min: 0, max: 220 });
  await fc.assert(fc.asyncProperty(instants, instants, async (a, b) => {
    const span = seconds(Math.min(a, b), Math.max(a, b));
    const { window, payload_ns, gaps } = (await readOne(directory.path, span))!;
    const inSpan = windows.filter(({ to_ns }) => span.from_ns < to_ns && to_ns <= span.to_ns);
    if (inSpan.length > 0) assert.deepEqual(window, mergeAll(inSpan));
    else assert.equal(window.series.size, 0);
    const last_ns = inSpan.at(-1)?.to_ns ?? span.from_ns;
    assert.equal(payload_ns, span.to_ns >= 200n * SECOND_NS ? span.to_ns : last_ns);
    assert.deepEqual(gaps, []);
  }));
});

Deno.test("a run that may go on is known to the end of its last window", async () => {
  await using directory = await temporaryDirectory();
  await write(directory.path, (await packedRun(3)).slice(0, 2));
  const { payload_ns, instance } = (await readOne(directory.path, ALL))!;
  assert.equal(payload_ns, 20n * SECOND_NS);
  assert.deepEqual({ ...instance, resource_id: "" }, {
    instance_id: ID,
    resource_id: "",
    tags: INSTANCE.tags,
    attributes: INSTANCE.attributes,
    first_seen_ts: 0,
    last_seen_ts: 20,
  });
  assert.match(instance.resource_id, /^[0-9a-f]{16}$/);
});

Deno.test("only selected metrics are read", async () => {
  await using directory = await temporaryDirectory();
  await write(directory.path, await packedRun(3, { gauges: () => ["gauge_a", "gauge_b"] }));
  const { window } = (await readOne(directory.path, ALL, { metrics: ["n"] }))!;
  assert.deepEqual([...window.series.values()].map(({ name }) => name), ["n"]);
  const prefix = (await readOne(directory.path, ALL, { metrics: ["gauge_*"] }))!;
  assert.equal(prefix.window.series.size, 2);
});

Deno.test("a damaged window is a gap of the spans that need it", async () => {
  await using directory = await temporaryDirectory();
  const windows = await packedRun(6);
  const path = await write(directory.path, windows);
  const bytes = await Deno.readFile(path);
  const start = windows[0]!.block.frame.bytes.length;
  const each = windows[0]!.frame.bytes.length;
  for (let at = 0; at < each; at++) {
    const damaged = bytes.slice();
    damaged[start + 2 * each + at]! ^= 255;
    await Deno.writeFile(path, damaged);
    const gap = seconds(20, 30);
    const { window, gaps } = (await readOne(directory.path, ALL))!;
    assert.deepEqual(gaps, [gap]);
    assert.equal(totalOf(window), 50);
    assert.deepEqual((await readOne(directory.path, seconds(30, 60)))!.gaps, []);
    const inside = (await readOne(directory.path, seconds(20, 30)))!;
    assert.deepEqual([inside.gaps, inside.payload_ns], [[gap], gap.to_ns]);
    assert.equal(inside.window.series.size, 0);
  }
});

Deno.test("steps end at multiples of their length, and count everything once", async () => {
  await using directory = await temporaryDirectory();
  await write(directory.path, await packedRun(30));
  const reader = new RunsReader(directory.path);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 97 }),
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: 0, max: 300 }),
      async (step, a, b) => {
        const span = seconds(Math.min(a, b), Math.max(a, b));
        const step_ns = BigInt(step) * SECOND_NS;
        const steps = await Array.fromAsync(reader.steps(ID, { ...span, step_ns }, {}));
        const { window } = (await readOne(directory.path, span))!;
        assert.equal(steps.reduce((sum, one) => sum + totalOf(one.window), 0), totalOf(window));
        for (const [i, { window: { to_ns } }] of steps.entries()) {
          const next = steps[i + 1]?.window;
          if (next) assert(to_ns / step_ns * step_ns < next.to_ns - 1n);
          assert(span.from_ns < to_ns && to_ns <= span.to_ns);
        }
      },
    ),
    { numRuns: 50 },
  );
  const ends: bigint[] = [];
  const span = { ...seconds(5, 95), step_ns: 30n * SECOND_NS };
  for await (const { payload_ns, gaps, final } of reader.steps(ID, span, {})) {
    ends.push(payload_ns / SECOND_NS);
    assert.deepEqual([gaps, final], [[], false]);
  }
  assert.deepEqual(ends, [30n, 60n, 90n]);
  const whole = await Array.fromAsync(reader.steps(ID, { ...ALL, step_ns: 200n * SECOND_NS }, {}));
  assert.deepEqual(whole.map(({ final }) => final), [false, true]);
  for (const step_ns of [0n, -SECOND_NS]) {
    await assert.rejects(Array.fromAsync(reader.steps(ID, { ...ALL, step_ns }, {})), {
      name: "RangeError",
      message: /step_ns must be more than 0/,
    });
  }
});

Deno.test("instances are listed newest first, by span, tags and page", async () => {
  await using directory = await temporaryDirectory();
  const ids = Array.from({ length: 5 }, (_, i) => String(i).padStart(12, "0"));
  for (const [i, instance_id] of ids.entries()) {
    const start_ns = BigInt(i) * 5n * SECOND_NS;
    const tags = { "instance.id": instance_id, parity: String(i % 2) };
    const instance = { ...INSTANCE, instance_id, start_ns, tags };
    await write(directory.path, await packedRun(1 + i, { instance }), instance_id);
  }
  await Deno.writeTextFile(`${directory.path}/other`, "");
  await Deno.writeTextFile(runFilePath(directory.path, "00000000000a"), "not a run file");
  assert((await run(["mkfifo", runFilePath(directory.path, "00000000000b")])).status.success);
  const reader = new RunsReader(directory.path);
  const list = async (
    options: { tags?: Record<string, string>; span?: Interval; limit?: number; after?: string },
  ) => {
    const { tags, span = ALL, limit = 100, after } = options;
    const found = await reader.instances({ tags }, span, { limit, after });
    return found.map(({ instance_id }) => Number(instance_id));
  };
  assert.deepEqual(await list({}), [4, 3, 2, 1, 0]);
  assert.deepEqual(await list({ limit: 2 }), [4, 3]);
  assert.deepEqual(await list({ limit: 2, after: ids[3] }), [2, 1]);
  assert.deepEqual(await list({ tags: { parity: "1" } }), [3, 1]);
  assert.deepEqual(await list({ span: seconds(0, 12) }), [2, 1, 0]);
  assert.deepEqual(await list({ span: seconds(25, 26) }), [4, 3, 2]);
  await assert.rejects(list({ after: "0000000000ff" }), {
    name: "RangeError",
    message: /after must be the id of a known instance: got "0000000000ff"/,
  });
  const read = await Array.fromAsync(
    reader.windows(
      [ids[2]!, "0000000000ff", "../escape", "00000000000b", ids[0]!, ids[2]!],
      ALL,
      {},
    ),
  );
  assert.deepEqual(read.map(({ instance }) => instance.instance_id), [ids[2], ids[0]]);
  assert.deepEqual(
    await new RunsReader(`${directory.path}/none`).instances({}, ALL, { limit: 1 }),
    [],
  );
});

Deno.test("a file of another format is refused, and is not in the list", async () => {
  await using directory = await temporaryDirectory();
  const path = await write(directory.path, await packedRun(1));
  const bytes = await Deno.readFile(path);
  const { crc32 } = await import("../../core/packed/crc32.ts");
  bytes[4] = 99;
  new DataView(bytes.buffer).setUint32(16, crc32(bytes.subarray(0, 16)), true);
  await Deno.writeFile(path, bytes);
  await assert.rejects(readOne(directory.path, ALL), UnknownFormatError);
  const reader = new RunsReader(directory.path);
  assert.deepEqual(await reader.instances({}, ALL, { limit: 1 }), []);
});
