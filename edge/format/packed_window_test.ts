import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import {
  emptyWindow,
  encodeUpload,
  type Resource,
  type Series,
  seriesKey,
  type Window,
} from "@service/core";
import { uploads } from "../../core/testdata/arbitrary.ts";
import { type Layout, NO_LAYOUT, packLayout, unpackLayout } from "./dictionary.ts";
import { pack, strangersOf, unpack } from "./packed_window.ts";

const RUNS = 300;

function stored(layout: Layout): Layout {
  return unpackLayout(packLayout(layout).body.buffer);
}

function withoutErrors(window: Window): Window {
  return { ...window, errors: [] };
}

Deno.test("a window comes back as it was, whatever its layout knows of it", () => {
  fc.assert(
    fc.property(uploads, uploads, fc.boolean(), ({ window }, { window: other }, deflate) => {
      const { from_ns, to_ns } = window;
      const expected = withoutErrors(window);
      const alone = pack(window, NO_LAYOUT, { deflate });
      assert.deepEqual(unpack(alone.body, { layout: NO_LAYOUT, from_ns, to_ns }), expected);

      const known = stored(NO_LAYOUT.with(alone.strangers));
      const full = pack(window, known, { deflate });
      assert.deepEqual(full.strangers, { series: [], frames: [], resources: [] });
      assert.deepEqual(unpack(full.body, { layout: known, from_ns, to_ns }), expected);

      const foreign = stored(NO_LAYOUT.with(strangersOf(other, NO_LAYOUT)));
      const partly = pack(window, foreign, { deflate });
      assert.deepEqual(unpack(partly.body, { layout: foreign, from_ns, to_ns }), expected);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("a large integer of few bits comes back alone in its window", () => {
  for (const value of [2n ** 996n, -(2n ** 996n)]) {
    const window = { ...emptyWindow(1n), to_ns: 2n };
    const gauge: Series = { name: "g", type: "gauge", tags: {}, updated_ns: 2n, value };
    window.series.set(seriesKey(gauge), gauge);
    const layout = stored(NO_LAYOUT.with(strangersOf(window, NO_LAYOUT)));
    const { body } = pack(window, layout, { deflate: false });
    assert.deepEqual(unpack(body, { layout, from_ns: 1n, to_ns: 2n }), window);
  }
});

Deno.test("a window that cannot be packed leaves nothing to the next", () => {
  fc.assert(
    fc.property(uploads, uploads, ({ window }, { window: other }) => {
      const layout = NO_LAYOUT.with(strangersOf(window, NO_LAYOUT));
      const { body } = pack(window, layout, { deflate: false });
      const broken = { ...other, resources: new Map([["", null as unknown as Resource]]) };
      assert.throws(() => pack(broken, layout, { deflate: false }));
      assert.deepEqual(pack(window, layout, { deflate: false }).body, body);
    }),
    { numRuns: 50 },
  );
});

Deno.test("bytes that nobody packed are read to an end, or refused", () => {
  fc.assert(
    fc.property(uploads, fc.nat(), fc.nat(255), ({ window }, at, byte) => {
      const { from_ns, to_ns } = window;
      const layout = NO_LAYOUT.with(strangersOf(window, NO_LAYOUT));
      const { body } = pack(window, layout, { deflate: false });
      body[1 + at % (body.length - 1)] = byte;
      let read: Window;
      try {
        read = unpack(body, { layout, from_ns, to_ns });
      } catch {
        return;
      }
      assert(read.series.size <= layout.seriesKeys.length);
    }),
    { numRuns: 500 },
  );
});

Deno.test("equal layouts have one name", () => {
  fc.assert(
    fc.property(uploads, ({ window }) => {
      const layout = NO_LAYOUT.with(strangersOf(window, NO_LAYOUT));
      assert.deepEqual(packLayout(stored(layout)), packLayout(layout));
    }),
    { numRuns: 50 },
  );
});

Deno.test("an upload stored as it came is read, too", () => {
  fc.assert(
    fc.property(uploads, (upload) => {
      const { from_ns, to_ns } = upload.window;
      const body = gzipSync(encodeUpload(upload));
      assert.deepEqual(
        unpack(body, { layout: null, from_ns, to_ns }),
        withoutErrors(upload.window),
      );
    }),
    { numRuns: 50 },
  );
});
