/** JSON with 64-bit integers: exact in both directions, and as strict as `JSON.parse`. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { decode, encode } from "./json.ts";
import { doubles } from "./testdata/arbitrary.ts";

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
const parse = JSON.parse as unknown as (text: string, reviver: Reviver) => unknown;

/** The definition of `decode`, as a plain reviver. */
function reference(text: string): unknown {
  return parse(text, (key, value, { source = "" }) => {
    if (!Number.isFinite(value) || !/^-?\d+$/.test(source)) return value;
    return key.endsWith("_ns") || !Number.isSafeInteger(value) ? BigInt(source) : value;
  });
}

const keys = fc.constantFrom(
  '"a_ns"',
  '"_ns"',
  '"a_n\\u0073"',
  '"a\\u005Fns"',
  '"a_ns\\""',
  '"\\\\_ns"',
  '"__proto__"',
  '"x"',
);
const scalars = fc.oneof(
  fc.constantFrom(
    ...["0", "-0", "5", "-7", "1.0", "1e3", "-1E-2", "0.5", "123456789012345678901", "null"],
    ...["9007199254740991", "9007199254740992", "-9223372036854775808", "9".repeat(400), "true"],
    ...['""', '"1"', '"x_ns"', '"_ns\\": 5"', '": 5"', '", 9007199254740993,"', '"\\u0000"'],
  ),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }).map(String),
  fc.json({ maxDepth: 1 }),
);
const space = fc.constantFrom("", "", "", " ", "\n", "\t\r ");

const { text: texts } = fc.letrec<{ text: string; list: string; object: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalars,
    tie("list"),
    tie("object"),
  ),
  list: fc.tuple(space, fc.array(tie("text"), { maxLength: 4 }))
    .map(([gap, items]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
  object: fc.tuple(space, fc.array(fc.tuple(keys, tie("text")), { maxLength: 4 }))
    .map(([gap, fields]) =>
      `{${gap}${fields.map(([key, value]) => `${key}${gap}:${gap}${value}`).join(`,${gap}`)}}`
    ),
}));

const tokens = fc.constantFrom(
  ...['"', "\\", "_ns", '_ns":', '_ns"', "0", "9", "-", ".", "e", ",", ":", "[", "]", "{", "}"],
  ...["\u00a0", "\u0000", "\n", "null", "", "", ""],
);
const brokenTexts = fc.tuple(texts, fc.nat(), fc.nat({ max: 2 }), tokens)
  .map(([text, at, gone, token]) => {
    const cut = at % (text.length + 1);
    return text.slice(0, cut) + token + text.slice(cut + gone);
  });

Deno.test("every 64-bit integer is decoded exactly, in any place", () => {
  const integers = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.constantFrom(
      0n,
      -1n,
      2n ** 53n - 1n,
      2n ** 53n,
      2n ** 53n + 1n,
      2n ** 63n - 1n,
      -(2n ** 63n),
    ),
  );
  fc.assert(fc.property(integers, (integer) => {
    const text = encode({ at_ns: integer, other: integer, list: [integer] });
    assert.equal(text, `{"at_ns":${integer},"other":${integer},"list":[${integer}]}`);
    const read = decode(text) as { at_ns: bigint; other: bigint; list: bigint[] };
    assert.equal(read.at_ns, integer);
    const safe = Number.isSafeInteger(Number(integer));
    for (const value of [read.other, read.list[0], decode(String(integer))]) {
      assert.equal(value, safe ? Number(integer) : integer);
    }
  }));
});

Deno.test("decoding any JSON gives the result of a plain reviver", () => {
  fc.assert(
    fc.property(texts, (text) => assert.deepEqual(decode(text), reference(text))),
    { numRuns: 3000 },
  );
});

Deno.test("encoding any value gives the text of a plain replacer, and changes nothing", () => {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const replaced = (_key: string, v: unknown) => typeof v === "bigint" ? rawJSON(String(v)) : v;
  fc.assert(
    fc.property(texts, (text) => {
      const value = decode(text);
      assert.equal(encode(value), JSON.stringify(value, replaced));
      assert.deepEqual(value, decode(text));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("decoding refuses exactly what JSON.parse refuses", () => {
  fc.assert(
    fc.property(brokenTexts, (text) => {
      let expected: unknown;
      try {
        expected = reference(text);
      } catch {
        assert.throws(() => decode(text), SyntaxError);
        return;
      }
      assert.deepEqual(decode(text), expected);
    }),
    { numRuns: 3000 },
  );
});

/** The value with a double for each integer that is a `bigint`. */
function withDoubles(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withDoubles);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withDoubles(item)]));
}

Deno.test("any JSON value is decoded as it was encoded", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const plain = JSON.parse(JSON.stringify({ value }));
    assert.deepEqual(withDoubles(decode(encode({ value }))), withDoubles(plain));
  }));
});

Deno.test("an integer that is a double is written with its own digits", () => {
  fc.assert(fc.property(doubles, (value) => {
    const read = decode(encode(value)) as number | bigint;
    assert.equal(Number(read), value + 0);
    if (typeof read === "bigint") assert.equal(read, BigInt(value));
  }));
  assert.equal(encode([2 ** 69, -(2 ** 60)]), "[590295810358705651712,-1152921504606846976]");
});

Deno.test("a number is a bigint only if a double would lose digits, or under a key in _ns", () => {
  const cases: [text: string, value: unknown][] = [
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ['{"a_ns":5}', { a_ns: 5n }],
    ['{"a_ns":-0}', { a_ns: 0n }],
    ['{"a_ns":1.0}', { a_ns: 1 }],
    ['{"a_ns":1e3}', { a_ns: 1000 }],
    ['{"a_ns":[5]}', { a_ns: [5] }],
    ['{"a_ns":"5"}', { a_ns: "5" }],
    ['{"a_ns":"\\u007f5","b":"\x7f"}', { a_ns: "\x7f5", b: "\x7f" }],
    ["9007199254740993.0", 9007199254740992],
    ["9007199254740993e0", 9007199254740992],
    ['{"a\\u005fns":"5"}', { a_ns: "5" }],
    ['{"a_ns":1,"a_ns":2}', { a_ns: 2n }],
    [`{"a_ns":${"9".repeat(309)}}`, { a_ns: Infinity }],
    ["null", null],
  ];
  for (const [text, value] of cases) assert.deepEqual(decode(text), value, text);
});

Deno.test("a key __proto__ is a key like any other", () => {
  const read = decode('{"__proto__":{"a_ns":1}}') as object;
  assert.equal(Object.getPrototypeOf(read), Object.prototype);
  assert.deepEqual(Object.entries(read), [["__proto__", { a_ns: 1n }]]);
});

Deno.test("an error shows the original text", () => {
  assert.throws(() => decode('{"a_ns":5,}'), { name: "SyntaxError", message: /position 10\b/ });
});

Deno.test("JSON nested too deeply is a SyntaxError, not a crash", () => {
  for (const text of ["[".repeat(1e6) + "]".repeat(1e6), '{"a_ns":"1","b":' + "[".repeat(1e6)]) {
    assert.throws(() => decode(text), { name: "SyntaxError", message: /nested too deeply/ });
  }
  assert.ok(decode("[".repeat(500) + "]".repeat(500)));
  assert.ok(decode(`[${Array(1000).fill("[]").join()}]`));
});

Deno.test("objects, arrays and members count as parts, which the caller bounds", () => {
  const text = '{"a":[1,2,3],"b":{"c":"[{:"},"d":4}';
  assert.ok(decode(text, { max_parts: 7 }));
  assert.throws(() => decode(text, { max_parts: 6 }), {
    name: "SyntaxError",
    message: /too many objects, arrays and members/,
  });
});

Deno.test("a number of a million digits is decoded quickly", () => {
  const digits = "9".repeat(1e6);
  assert.deepEqual(decode(`{"a_ns":${digits},"b":${digits}}`), { a_ns: Infinity, b: Infinity });
});
