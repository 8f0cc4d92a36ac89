/** Tags as text, and the identities of series and resources that they make. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { seriesKey } from "./series/mod.ts";
import { formatTags, parseTags, tagsKey } from "./tags.ts";
import { resourceKey } from "./window.ts";
import { tags } from "./testdata/arbitrary.ts";

Deno.test("parseTags() reverses formatTags()", () => {
  fc.assert(fc.property(tags, (given) => assert.deepEqual(parseTags(formatTags(given)), given)));
  const binary = fc.string({ minLength: 1, unit: "binary" });
  fc.assert(fc.property(fc.dictionary(binary, binary, { noNullPrototype: true }), (given) => {
    assert.deepEqual(parseTags(formatTags(given)), given);
  }));
});

Deno.test("a tag string gives its keys and values", () => {
  const cases: [text: string, tags: Record<string, string>][] = [
    ["", {}],
    [";;", {}],
    ["k1:v1;k2:v2", { k1: "v1", k2: "v2" }],
    ["k1:v1;", { k1: "v1" }],
    ["url:http://a:80/b", { url: "http://a:80/b" }],
    ["k:", { k: "" }],
    ["k:a%3Bb", { k: "a;b" }],
    ["k:100%25", { k: "100%" }],
    ["a%3Ab:c", { "a:b": "c" }],
    ["k: v ", { k: " v " }],
  ];
  for (const [text, expected] of cases) assert.deepEqual(parseTags(text), expected, text);
});

Deno.test("an invalid tag string is refused", () => {
  const cases: [text: string, why: RegExp][] = [
    ["k", /"k": must be key:value/],
    [":v", /":v": must be key:value/],
    ["a:1;b", /"b": must be key:value/],
    ["a:1;a:2", /"a:2": its key is given twice/],
    ["a:1;%61:2", /given twice/],
    ["a:1;__proto__:2;__proto__:3", /given twice/],
    ["k:%", /a percent sign must start an escape/],
    ["k:%zz", /a percent sign must start an escape/],
    ["k:%ff", /a percent sign must start an escape/],
  ];
  for (const [text, message] of cases) {
    assert.throws(() => parseTags(text), { name: "RangeError", message }, text);
  }
});

Deno.test("names of built-in properties are valid keys", () => {
  for (const key of ["__proto__", "constructor", "toString"]) {
    const read = parseTags(`${key}:v`);
    assert.deepEqual(Object.entries(read), [[key, "v"]]);
    assert.equal(Object.getPrototypeOf(read), Object.prototype);
  }
});

Deno.test("the identities of tags are equal exactly if their pairs are", () => {
  const pairs = fc.dictionary(
    fc.constantFrom("a", "b", "a:b", '"'),
    fc.constantFrom("", "1", ":", '","'),
    { noNullPrototype: true },
  );
  fc.assert(fc.property(pairs, pairs, (one, other) => {
    const same = formatTags(one) === formatTags(other);
    assert.equal(tagsKey(one) === tagsKey(other), same);
    assert.equal(
      seriesKey({ name: "m", type: "gauge", tags: one }) ===
        seriesKey({ name: "m", type: "gauge", tags: other }),
      same,
    );
    assert.equal(
      resourceKey({ kind: "k", tags: one }) === resourceKey({ kind: "k", tags: other }),
      same,
    );
  }));
  assert.equal(tagsKey({ a: "1", b: "2" }), tagsKey({ b: "2", a: "1" }));
});

Deno.test("name and type are part of a series' identity", () => {
  const keys = new Set([
    seriesKey({ name: "m", type: "gauge", tags: {} }),
    seriesKey({ name: "m", type: "counter", tags: {} }),
    seriesKey({ name: "n", type: "gauge", tags: {} }),
    seriesKey({ name: 'm" []', type: "gauge", tags: {} }),
  ]);
  assert.equal(keys.size, 4);
});
