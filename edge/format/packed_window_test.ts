/** Packed windows: read back as they were, and refused where their bytes are damaged. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { emptyWindow, type Resource, type Series, seriesKey, type Window } from "@service/core";
import { uploads } from "../../core/testdata/arbitrary.ts";
import {
  type Dictionary,
  EMPTY_DICTIONARY,
  packDictionary,
  unpackDictionary,
} from "./dictionary.ts";
import { missingIn, unpack, WindowPacker } from "./packed_window.ts";

const RUNS = 300;

const packer = new WindowPacker();

function stored(dictionary: Dictionary): Dictionary {
  return unpackDictionary(packDictionary(dictionary).body.buffer);
}

function withoutErrors(window: Window): Window {
  return { ...window, errors: [] };
}

Deno.test("the example of FORMAT.md is what is written", async () => {
  const page = await Deno.readTextFile(new URL("FORMAT.md", import.meta.url));
  const [, example = ""] = /## An example[^]*?```\n([^]*?)```/.exec(page) ?? [];
  const bytes = example.split("\n").flatMap((line) =>
    line.slice(0, 24).match(/\b[0-9a-f]{2}\b/g) ?? []
  );

  const window = emptyWindow(10_000_000_000n);
  window.to_ns = 20_000_000_000n;
  const base = { tags: {}, updated_ns: window.to_ns };
  const gauge: Series = { ...base, name: "process_threads", type: "gauge", value: 2.5 };
  const counter: Series = { ...base, name: "requests_total", type: "counter", total: 300 };
  for (const series of [gauge, counter]) window.series.set(seriesKey(series), series);
  const dictionary = EMPTY_DICTIONARY.with(missingIn(EMPTY_DICTIONARY, window));
  const { body } = packer.pack(window, { dictionary, deflate: false });
  assert.deepEqual(bytes.map((byte) => parseInt(byte, 16)), [...body]);
});

Deno.test("a packed window is unpacked as it was, with any dictionary", () => {
  fc.assert(
    fc.property(uploads, uploads, fc.boolean(), ({ window }, { window: other }, deflate) => {
      const { from_ns, to_ns } = window;
      const expected = withoutErrors(window);
      const alone = packer.pack(window, { dictionary: EMPTY_DICTIONARY, deflate });
      assert.deepEqual(
        unpack(alone.body, { dictionary: EMPTY_DICTIONARY, from_ns, to_ns }),
        expected,
      );

      const known = stored(EMPTY_DICTIONARY.with(alone.missing));
      const full = packer.pack(window, { dictionary: known, deflate });
      assert.deepEqual(full.missing, { series: [], frames: [], resources: [] });
      assert.deepEqual(unpack(full.body, { dictionary: known, from_ns, to_ns }), expected);

      const foreign = stored(EMPTY_DICTIONARY.with(missingIn(EMPTY_DICTIONARY, other)));
      const partly = packer.pack(window, { dictionary: foreign, deflate });
      assert.deepEqual(unpack(partly.body, { dictionary: foreign, from_ns, to_ns }), expected);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("a large integer with few significant bits is unpacked exactly", () => {
  for (const value of [2n ** 996n, -(2n ** 996n)]) {
    const window = { ...emptyWindow(1n), to_ns: 2n };
    const gauge: Series = { name: "g", type: "gauge", tags: {}, updated_ns: 2n, value };
    window.series.set(seriesKey(gauge), gauge);
    const dictionary = stored(EMPTY_DICTIONARY.with(missingIn(EMPTY_DICTIONARY, window)));
    const { body } = packer.pack(window, { dictionary, deflate: false });
    assert.deepEqual(unpack(body, { dictionary, from_ns: 1n, to_ns: 2n }), window);
  }
});

Deno.test("a window that cannot be packed does not change the next one", () => {
  fc.assert(
    fc.property(uploads, uploads, ({ window }, { window: other }) => {
      const dictionary = EMPTY_DICTIONARY.with(missingIn(EMPTY_DICTIONARY, window));
      const { body } = packer.pack(window, { dictionary, deflate: false });
      const broken = { ...other, resources: new Map([["", null as unknown as Resource]]) };
      assert.throws(() => packer.pack(broken, { dictionary, deflate: false }));
      assert.deepEqual(packer.pack(window, { dictionary, deflate: false }).body, body);
    }),
    { numRuns: 50 },
  );
});

Deno.test("random bytes are unpacked or refused, and reading ends", () => {
  fc.assert(
    fc.property(uploads, fc.nat(), fc.nat(255), ({ window }, at, byte) => {
      const { from_ns, to_ns } = window;
      const dictionary = EMPTY_DICTIONARY.with(missingIn(EMPTY_DICTIONARY, window));
      const { body } = packer.pack(window, { dictionary, deflate: false });
      body[1 + at % (body.length - 1)] = byte;
      let read: Window;
      try {
        read = unpack(body, { dictionary, from_ns, to_ns });
      } catch {
        return;
      }
      assert(read.series.size <= dictionary.seriesKeys.length);
    }),
    { numRuns: 500 },
  );
});

Deno.test("a packed window that is cut, or has further bytes, is refused", () => {
  fc.assert(
    fc.property(uploads, fc.boolean(), fc.integer({ min: 1 }), ({ window }, deflate, lost) => {
      const { from_ns, to_ns } = window;
      const dictionary = EMPTY_DICTIONARY.with(missingIn(EMPTY_DICTIONARY, window));
      const { body } = packer.pack(window, { dictionary, deflate });
      const options = { dictionary, from_ns, to_ns };
      const cut = body.subarray(0, body.length - 1 - lost % body.length);
      assert.throws(() => unpack(cut, options));
      if (!deflate) assert.throws(() => unpack(new Uint8Array([...body, 0]), options), RangeError);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("equal dictionaries have equal names", () => {
  fc.assert(
    fc.property(uploads, ({ window }) => {
      const dictionary = EMPTY_DICTIONARY.with(missingIn(EMPTY_DICTIONARY, window));
      assert.deepEqual(packDictionary(stored(dictionary)), packDictionary(dictionary));
    }),
    { numRuns: 50 },
  );
});
