/** The fast reader of uploads: it takes and refuses the same texts as the general one. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { decode, encodeUpload, ShapeError } from "@service/core";
import { uploadShape } from "@service/core/upload_schema";
import { uploads } from "../../core/testdata/arbitrary.ts";
import { UploadReader } from "./fast_upload.ts";

function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof ShapeError ? [error.path, error.fault] : (error as Error).name;
  }
}

const bySlowWay = (text: string) => outcome(() => uploadShape.check(decode(text)));

Deno.test("an upload is read as by its shape, with and without cached identities", () => {
  fc.assert(
    fc.property(uploads, (upload) => {
      const text = encodeUpload(upload);
      const reader = new UploadReader();
      for (const _ of ["first", "again"]) {
        assert.deepEqual(outcome(() => reader.read(text)), bySlowWay(text));
      }
    }),
  );
});

for (const max_characters of [2 ** 24, 100]) {
  Deno.test(`what encodeUpload writes takes the fast way, with ${max_characters} characters kept`, () => {
    const reader = new UploadReader({ max_characters });
    fc.assert(
      fc.property(uploads, (upload) => {
        const text = encodeUpload(upload);
        for (const _ of ["first", "again"]) assert.deepEqual(reader.readFast(text), upload);
      }),
    );
  });
}

const reader = new UploadReader();

const pieces = fc.constantFrom(
  ...['"', "\\", "0", "9", "-", ".", "e", ",", ":", "[", "]", "{", "}", " ", "1e400", "null", ""],
  ...['"series":[', '"series":[],', '"s\\u0065ries":[],', '"name":"b",', '"updated_ns":5,', "00"],
  ...["-0", "1.0", "9007199254740993", '"x"', "\u00e9", "\n", "9".repeat(20), "[1,2]", "[1e16,1]"],
);

Deno.test("an invalid or unusual text gets the result of the shape", () => {
  fc.assert(
    fc.property(uploads, fc.nat(), fc.nat({ max: 3 }), pieces, (upload, at, gone, piece) => {
      const text = encodeUpload(upload);
      const begin = text.indexOf('"series":');
      const cut = begin + at % (text.length - begin);
      const odd = text.slice(0, cut) + piece + text.slice(cut + gone);
      assert.deepEqual(outcome(() => reader.read(odd)), bySlowWay(odd));
    }),
    { numRuns: 1_000 },
  );
});
