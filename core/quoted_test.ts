/** Text of the workload: no marks that hide or end it, no secrets, bounded, fences whole. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { fenced, named, quoted, sentenceOf } from "./quoted.ts";

/** Texts with marks that could end a fence or a line, or turn what is read. */
const hostile = fc.array(
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("`", "```", "\n", "\r\n## ", "\u2028", "\u202e", "\u0000", "\u001b[2J", "|"),
    fc.constantFrom(" token=abc123secret ", "Bearer abc", "\u{e0041}", "\u00ad"),
  ),
).map((parts) => parts.join(""));

Deno.test("a fence holds one line without marks that end it, hide or turn text", () => {
  fc.assert(fc.property(hostile, fc.integer({ min: 2, max: 300 }), (text, length) => {
    const inside = /^`([^`]*)`$/.exec(fenced(text, length))?.[1];
    assert.ok(inside !== undefined);
    assert.ok(!/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200b-\u200f\ufeff]/u.test(inside));
    assert.ok([...inside].length <= length);
    assert.ok(!inside.includes("abc123secret"));
    assert.equal(inside, quoted(text, length));
  }));
});

Deno.test("a name of one word stands as it is, all else is fenced", () => {
  for (
    const name of ["gpu_busy_nanoseconds", "vllm:cache", "a.b/c:8000", "foo<4>"]
  ) {
    assert.equal(named(name), name);
  }
  for (
    const name of [
      "",
      "ignore this",
      "a`b",
      "a|b",
      "x\ny",
      "#",
      "##a",
      "-",
      "-a",
      ">a",
      "*a*",
      "1.",
      "é",
      "[redacted]",
      "a;b",
    ]
  ) {
    assert.match(named(name), /^`[^`]*`$/);
  }
});

Deno.test("a sentence is one line, and a fence in it is closed where it is cut", () => {
  fc.assert(fc.property(hostile, fc.integer({ min: 30, max: 300 }), (text, length) => {
    const sentence = sentenceOf(
      `Kernel ${fenced(text)} is ${named(text)} of ${fenced(text)}`,
      length,
    );
    assert.ok([...sentence].length <= length);
    assert.equal(sentence.split("`").length % 2, 1, sentence);
    assert.ok(!/[\p{Cc}\u202e]/u.test(sentence));
  }));
});
