/** Packed windows: read back as they were, and never as other numbers where their bytes are damaged. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { uploads } from "../testdata/arbitrary.ts";
import { type Series, seriesKey } from "../series/mod.ts";
import type { Upload } from "../upload.ts";
import { MAX_SERIES } from "../limits.ts";
import { emptyWindow, merge, type Resource, type Window } from "../window.ts";
import { createBlock } from "./block.ts";
import { endFrame } from "./frame.ts";
import { scanFrames } from "./scan.ts";
import {
  DamagedError,
  type Frame,
  IdentityTable,
  type InstanceHead,
  type PackedWindow,
  readBlock,
  readFrames,
  readWindow,
  readWindows,
  streamWindows,
  UnknownFormatError,
  WindowPacker,
  withoutMembers,
} from "./mod.ts";
import { INSTANCE } from "./testdata/instance.ts";

function joined(...frames: Frame[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(frames.flatMap(({ bytes }) => [...bytes]));
}

Deno.test("the example of FORMAT.md is what is written", async () => {
  const page = await Deno.readTextFile(new URL("FORMAT.md", import.meta.url));
  const [, example = ""] = /## An example([^]*)/.exec(page) ?? [];
  const parts = [...example.matchAll(/```(?:text)?\n([^]*?)\n```/g)].map(([, text = ""]) => {
    if (text.startsWith("{")) return new TextEncoder().encode(text);
    const digits = text.split("\n").map((line) => line.slice(0, 24)).join("");
    return Uint8Array.fromHex(digits.replace(/\s/g, ""));
  });

  const window = { ...emptyWindow(10_000_000_000n), to_ns: 20_000_000_000n };
  const base = { tags: {}, updated_ns: window.to_ns };
  const gauge: Series = { ...base, name: "process_threads", type: "gauge", value: 2.5 };
  const counter: Series = { ...base, name: "requests_total", type: "counter", total: 300 };
  for (const series of [gauge, counter]) window.series.set(seriesKey(series), series);
  const { block, frame } = await new WindowPacker(INSTANCE).pack(window, { final: true });
  assert.deepEqual(new Uint8Array(parts.flatMap((part) => [...part])), joined(block.frame, frame));
});

/** The upload as bytes, and read from them. */
async function throughBytes(upload: Upload, packer: WindowPacker) {
  const { frame, block } = await packer.pack(upload.window, { final: upload.final });
  const [first, second] = readFrames(joined(block.frame, frame));
  const read = await readBlock(first!);
  assert.equal(read.hash, block.hash);
  return { ...readWindow(second!, read), instance: read.instance };
}

function instanceOf({ window: _, final: __, ...instance }: Upload): InstanceHead {
  return instance;
}

Deno.test("a packed window is read as it was, whatever its block", async () => {
  await fc.assert(
    fc.asyncProperty(uploads, uploads, async (upload, { window: other }) => {
      const instance = instanceOf(upload);
      const packer = new WindowPacker(instance);
      for (const window of [upload.window, other, upload.window]) {
        const read = await throughBytes({ ...upload, window }, packer);
        assert.deepEqual(read.window, window);
        assert.equal(read.final, upload.final);
        assert.deepEqual(read.instance, instance);
        assert.deepEqual(read.members, {});
      }
    }),
    { numRuns: 150 },
  );
});

Deno.test("identities that come again are moved to a new block", async () => {
  const packer = new WindowPacker(INSTANCE);
  const windowOf = (count: number) => {
    const window = { ...emptyWindow(1n), to_ns: 2n };
    for (let i = 0; i < count; i++) {
      const name = `metric_${i}`;
      const gauge: Series = { name, type: "gauge", tags: {}, updated_ns: 2n, value: i };
      window.series.set(seriesKey(gauge), gauge);
    }
    return window;
  };
  const first = await packer.pack(windowOf(5));
  const second = await packer.pack(windowOf(50));
  assert.equal(second.block, first.block);
  const third = await packer.pack(windowOf(50));
  assert.notEqual(third.block.hash, first.block.hash);
  const fourth = await packer.pack(windowOf(50));
  assert.equal(fourth.block, third.block);
  assert(fourth.frame.bytes.length < second.frame.bytes.length / 4);
});

Deno.test("a window that cannot be packed does not change the next one", async () => {
  await fc.assert(
    fc.asyncProperty(uploads, uploads, async ({ window }, { window: other }) => {
      const packer = new WindowPacker(INSTANCE);
      const { frame } = await packer.pack(window);
      const broken = { ...other, resources: new Map([["", null as unknown as Resource]]) };
      await assert.rejects(packer.pack(broken));
      assert.deepEqual((await packer.pack(window)).frame.bytes, frame.bytes);
    }),
    { numRuns: 50 },
  );
});

Deno.test("a large integer with few significant bits is read exactly", async () => {
  for (const value of [2n ** 996n, -(2n ** 996n), 2n ** 53n + 1n]) {
    const window = { ...emptyWindow(1n), to_ns: 2n };
    const gauge: Series = { name: "g", type: "gauge", tags: {}, updated_ns: 2n, value };
    window.series.set(seriesKey(gauge), gauge);
    const { frame, block } = await new WindowPacker(INSTANCE).pack(window);
    assert.deepEqual(readWindow(frame, block).window, window);
  }
});

/** An upload in bytes, and the function that reads such bytes completely. */
async function uploadBytes(upload: Upload) {
  const packer = new WindowPacker(instanceOf(upload));
  const { frame, block } = await packer.pack(upload.window, { final: upload.final });
  return joined(block.frame, frame);
}

async function readUpload(bytes: Uint8Array<ArrayBuffer>): Promise<Window> {
  const [first, second, ...more] = readFrames(bytes);
  if (!first || !second || more.length > 0) throw new DamagedError("must be two frames");
  const block = await readBlock(first);
  const read = readWindow(second, block);
  if (read.block !== block.hash) throw new DamagedError("must be of the block");
  return read.window;
}

Deno.test("a changed, missing, additional or repeated byte is found", async () => {
  await fc.assert(
    fc.asyncProperty(
      uploads,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (upload, where, flip) => {
        const bytes = await uploadBytes(upload);
        const at = where % bytes.length;
        const changed = bytes.slice();
        changed[at]! ^= flip;
        const damaged = [
          changed,
          bytes.slice(0, at),
          new Uint8Array([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]),
          new Uint8Array([...bytes, flip]),
          new Uint8Array([...bytes, ...bytes.subarray(at)]),
        ];
        for (const other of damaged) {
          await assert.rejects(
            readUpload(other),
            (error) => error instanceof DamagedError || error instanceof UnknownFormatError,
          );
        }
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("bytes with right checksums are read as valid windows, or refused", async () => {
  const { sealed } = await import("./frame.ts");
  await fc.assert(
    fc.asyncProperty(
      uploads,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      async (upload, edits) => {
        const { frame, block } = await new WindowPacker(instanceOf(upload)).pack(upload.window);
        const bytes = frame.bytes.slice();
        for (const [where, byte] of edits) bytes[20 + where % (bytes.length - 20)] = byte;
        let window: Window;
        try {
          ({ window } = readWindow(sealed("window", bytes), block));
        } catch (error) {
          assert(error instanceof DamagedError, `${error}`);
          return;
        }
        const again = await throughBytes({ ...upload, window }, new WindowPacker(INSTANCE));
        assert.deepEqual(again.window, window);
      },
    ),
    { numRuns: 1_000 },
  );
});

Deno.test("members are read beside the window, and can be cut out", async () => {
  await fc.assert(
    fc.asyncProperty(uploads, async ({ window }) => {
      const members = { traces: [{ at_ns: 2n ** 60n }], note: "new" };
      const { frame, block } = await new WindowPacker(INSTANCE).pack(window, { members });
      const read = readWindow(frame, block);
      assert.deepEqual(read.members, members);
      assert.deepEqual(read.window, window);
      const cut = readWindow(withoutMembers(frame), block);
      assert.deepEqual(cut.members, {});
      assert.deepEqual(cut.window, { ...window, errors: [] });
    }),
    { numRuns: 50 },
  );
});

Deno.test("only series of wanted names are read", async () => {
  await fc.assert(
    fc.asyncProperty(uploads, async ({ window }) => {
      const { frame, block } = await new WindowPacker(INSTANCE).pack(window);
      const wanted = (name: string) => name === "a_bytes";
      const series = new Map([...window.series].filter(([, { name }]) => wanted(name)));
      assert.deepEqual(readWindow(frame, { ...block, wanted }).window, { ...window, series });
    }),
    { numRuns: 50 },
  );
});

async function* chunksOf(bytes: Uint8Array<ArrayBuffer>, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

/** The bytes of an answer with windows of several packers. */
async function streamed(...windows: PackedWindow[]): Promise<Uint8Array<ArrayBuffer>> {
  async function* each() {
    yield* windows;
  }
  const parts = await Array.fromAsync(streamWindows(each()));
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

Deno.test("a stream is read in any chunks, and only with its end frame as the last one", async () => {
  await fc.assert(
    fc.asyncProperty(uploads, uploads, fc.integer({ min: 1, max: 99 }), async (a, b, size) => {
      const packer = new WindowPacker(INSTANCE);
      const other = await new WindowPacker(instanceOf(b)).pack(b.window);
      const packed = [await packer.pack(a.window), other, await packer.pack(b.window)];
      const complete = await streamed(...packed);
      const read = await Array.fromAsync(readWindows(chunksOf(complete, size)));
      assert.deepEqual(read.map(({ window }) => window), [a.window, b.window, b.window]);
      assert.deepEqual(read.map(({ block }) => block.hash), packed.map(({ block }) => block.hash));

      const [first, second] = packed.map(({ block, frame }) => [block.frame, frame]);
      const wrong = [
        complete.slice(0, -1),
        joined(...first!, ...second!),
        joined(...first!, endFrame(2)),
        joined(...first!, endFrame(1), endFrame(1)),
        joined(...first!, endFrame(1), ...second!),
        joined(first![1]!, first![0]!, endFrame(1)),
        new Uint8Array(),
      ];
      for (const bytes of wrong) {
        await assert.rejects(Array.fromAsync(readWindows(chunksOf(bytes, size))), DamagedError);
      }
    }),
    { numRuns: 30 },
  );
});

Deno.test("a stream has a block once for windows that follow each other", async () => {
  const packer = new WindowPacker(INSTANCE);
  const packed = await packer.pack(emptyWindow(1n));
  const { length } = await streamed(packed);
  assert.equal((await streamed(packed, packed)).length, length + packed.frame.bytes.length);
});

Deno.test("adjacent windows are merged, or stay as they are if an upload may not have as much", async () => {
  await fc.assert(
    fc.asyncProperty(uploads, uploads, async (a, b) => {
      const next = { ...b.window, from_ns: a.window.to_ns, to_ns: a.window.to_ns + 1n };
      for (const series of next.series.values()) series.updated_ns = next.to_ns;
      const packer = new WindowPacker(INSTANCE);
      const [first, second] = [
        await packer.pack(a.window),
        await packer.pack(next, { final: true }),
      ];
      const merged = await new WindowPacker(INSTANCE).merge(first, second);
      fc.pre(merged !== undefined);
      const read = readWindow(merged.frame, merged.block);
      assert.deepEqual(read.window, merge(a.window, next));
      assert(read.final);
    }),
    { numRuns: 50 },
  );
  const full = (names: string, from_ns: bigint) => {
    const window = { ...emptyWindow(from_ns), to_ns: from_ns + 1n };
    for (let i = 0; i < MAX_SERIES; i++) {
      const name = `${names}_${i}`;
      const gauge: Series = { name, type: "gauge", tags: {}, updated_ns: window.to_ns, value: i };
      window.series.set(seriesKey(gauge), gauge);
    }
    return new WindowPacker(INSTANCE).pack(window);
  };
  const [first, second] = [await full("a", 1n), await full("b", 2n)];
  assert.equal(await new WindowPacker(INSTANCE).merge(first, second), undefined);
  await assert.rejects(new WindowPacker(INSTANCE).merge(second, first), RangeError);
});

Deno.test("behind damage the frames of a file are read again", async () => {
  await fc.assert(
    fc.asyncProperty(uploads, fc.nat(), fc.nat(), async ({ window }, where, size) => {
      const packer = new WindowPacker(INSTANCE);
      const frames: Frame[] = [];
      for (let i = 0; i < 3; i++) frames.push((await packer.pack(window)).frame);
      const bytes = joined(...frames);
      const at = where % bytes.length;
      bytes[at]! ^= 1 + size % 255;
      const found: number[] = [];
      let length = 0;
      async function* chunks() {
        for (let i = 0; i < bytes.length; i += 1 + size % 999) {
          yield bytes.subarray(i, i + 1 + size % 999);
        }
      }
      try {
        for await (const part of scanFrames(chunks())) {
          if (part.kind !== "damage") found.push(length);
          length += part.bytes.length;
        }
      } catch (error) {
        assert(!(error instanceof UnknownFormatError), "a damaged header names no format");
        throw error;
      }
      assert.equal(length, bytes.length);
      const each = frames[0]!.bytes.length;
      assert.deepEqual(
        found,
        [0, each, 2 * each].filter((start) => at < start || at >= start + each),
      );
    }),
    { numRuns: 200 },
  );
});

Deno.test("equal identities make equal blocks", async () => {
  await fc.assert(
    fc.asyncProperty(uploads, async (upload) => {
      const { block } = await new WindowPacker(instanceOf(upload)).pack(upload.window);
      const read = await readBlock(block.frame);
      const again = await createBlock(read.instance, read.table.identities);
      assert.equal(again.hash, block.hash);
      assert.deepEqual(again.frame, block.frame);
      assert(read.table instanceof IdentityTable);
    }),
    { numRuns: 50 },
  );
});
