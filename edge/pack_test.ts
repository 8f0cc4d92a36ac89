import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { encodeUpload, type Window } from "@service/core";
import { uploads } from "../core/testdata/arbitrary.ts";
import { Layout, packLayout, unpackLayout } from "./layout.ts";
import { pack, unpack } from "./pack.ts";

const RUNS = 300;

/** A layout that lacks everything. */
const NONE = new Layout({ series: [], frames: [], resources: [] });

function stored(layout: Layout): Layout {
  return unpackLayout(packLayout(layout).body.buffer);
}

function withoutErrors(window: Window): Window {
  return { ...window, errors: [] };
}

Deno.test("a window comes back as it was, whatever its layout knows of it", () => {
  fc.assert(
    fc.property(uploads, uploads, ({ window }, { window: other }) => {
      const { from_ns, to_ns } = window;
      const expected = withoutErrors(window);
      const alone = pack(window, NONE);
      assert.deepEqual(unpack(alone.body, { layout: NONE, from_ns, to_ns }), expected);

      const known = stored(NONE.with(alone.strangers));
      const full = pack(window, known);
      assert.deepEqual(full.strangers, { series: [], frames: [], resources: [] });
      assert.deepEqual(unpack(full.body, { layout: known, from_ns, to_ns }), expected);

      const foreign = stored(NONE.with(pack(other, NONE).strangers));
      const partly = pack(window, foreign);
      assert.deepEqual(unpack(partly.body, { layout: foreign, from_ns, to_ns }), expected);
    }),
    { numRuns: RUNS },
  );
});

Deno.test("equal layouts have one name", () => {
  fc.assert(
    fc.property(uploads, ({ window }) => {
      const layout = NONE.with(pack(window, NONE).strangers);
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
