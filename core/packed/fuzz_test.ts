/**
 * Packed bytes with right checksums and wrong content: each is refused as damaged, or is a window that
 * a JSON upload could have brought, and that packs and reads back equal.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { uploads } from "../testdata/arbitrary.ts";
import { decode } from "../json.ts";
import { encodeUpload, type Upload } from "../upload.ts";
import { uploadShape } from "../upload_schema.ts";
import type { Window } from "../window.ts";
import { frameOf } from "./frame.ts";
import { createBlock } from "./block.ts";
import {
  type Block,
  DamagedError,
  readBlock,
  readWindow,
  UPLOAD_LIMITS,
  WindowPacker,
} from "./mod.ts";
import { INSTANCE } from "./testdata/instance.ts";
import { frameOfRaw, type RawWindow, rawWindow } from "./testdata/raw_window.ts";

const RUNS = 1_000;

/** Nesting that no parser has the stack for. */
const DEEP = 20_000;

/** JSON that may stand where other JSON is expected. */
const NASTY_JSON = [
  ...["null", "true", "{}", "[]", '""', "0", "1", "-1", "-0", '"-0"', "0.5", "1e300", "1e301"],
  ...[
    "1e999",
    "-1e999",
    "5e-324",
    "9007199254740991",
    "9007199254740993",
    "9223372036854775808",
    "9".repeat(400),
  ],
  ...['"\\ud800"', '"\\u0000"', '"__proto__"', '"constructor"', '"gauge"', '"histogram"', '"bins"'],
  ...['{"__proto__":"x"}', '{"__proto__":null}', '{"a_ns":1}', '{"\\udfff":"\\ud800"}', "[1,1]"],
  ...["[-1,0,1]", "[0,-0]", '["-0",0]', "[1e301]", "[9007199254740992,9007199254740993]"],
  ...[`"${"n".repeat(4_097)}"`, `"${"\\u00e9".repeat(4_096)}"`, "\x7f", '"\x7f1"', '"\\u007f1"'],
  ...["[".repeat(DEEP) + "]".repeat(DEEP), "[".repeat(DEEP), '{"a":'.repeat(DEEP)],
];

/** Integers at the limits of what a varint means, and beyond those of a varint. */
const NASTY_INTEGERS = [
  ...[0n, 1n, 2n, 6n, 7n, 8n, 9n, 13n, 15n, 16n, 23n, 127n, 128n, 4_097n, 4_098n, 20_001n],
  ...[2n ** 20n, 2n ** 20n + 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n],
  ...[2n ** 53n + 1n, 2n ** 56n - 1n, 2n ** 56n, 2n ** 63n, 2n ** 70n],
];

const NASTY_DOUBLES = [
  ...[0, -0, 1, 0.1, NaN, Infinity, -Infinity, 1e300, -1e300, 1.1e300, 5e-324, 2 ** 53, 2 ** 900],
];

/** A change of a list: an item is replaced, removed, repeated, put elsewhere, or a new one inserted. */
type Edit<T> = (items: T[]) => T[];

function edits<T>(nasty: readonly T[]): fc.Arbitrary<Edit<T>> {
  return fc.tuple(fc.nat(), fc.nat(), fc.constantFrom(...nasty), fc.nat(4)).map(
    ([where, other, value, how]) => (items) => {
      const at = where % (items.length + 1);
      const item = items[at];
      if (item === undefined || how === 0) return items.toSpliced(at, 0, value);
      if (how === 1) return items.toSpliced(at, 1);
      if (how === 2) return items.toSpliced(at, 0, item);
      if (how === 3) return items.with(at, value);
      return items.with(at, items[other % items.length]!).with(other % items.length, item);
    },
  );
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|\w+|[^\s\w]/g;

/** A change of a JSON text: a value in it is replaced, removed or repeated; or any tokens change. */
const jsonEdits: fc.Arbitrary<(text: string) => string> = fc.tuple(
  fc.nat(),
  fc.constantFrom(...NASTY_JSON),
  fc.nat(3),
  edits(NASTY_JSON),
).map(([where, nasty, how, edit]) => (text) => {
  const tokens = text.match(TOKENS) ?? [];
  if (how === 0 || tokens.length === 0) return edit(tokens).join("");
  const values = [...tokens.keys()].filter((i) => !/^[\]},:]$/.test(tokens[i]!));
  const start = values[where % values.length]!;
  const end = endOfValue(tokens, start);
  const value = tokens.slice(start, end);
  const separator = tokens[end] === "," ? 1 : 0;
  if (how === 1) return tokens.toSpliced(start, end - start, nasty).join("");
  if (how === 2) return tokens.toSpliced(start, end - start + separator).join("");
  return [...tokens.slice(0, start), ...value, ",", ...tokens.slice(start)].join("");
});

/** Index behind the value that starts at a token; a member's name is one with its value. */
function endOfValue(tokens: readonly string[], start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at++) {
    if (/^[[{]$/.test(tokens[at]!)) depth++;
    if (/^[\]}]$/.test(tokens[at]!)) depth--;
    if (depth <= 0 && tokens[at + 1] !== ":" && tokens[at] !== ":") return at + 1;
  }
  return tokens.length;
}

type RawEdit = (raw: RawWindow) => RawWindow;

const rawEdits: fc.Arbitrary<RawEdit> = fc.oneof<fc.Arbitrary<RawEdit>[]>(
  edits(NASTY_INTEGERS).map((edit) => (raw) => ({ ...raw, kinds: edit(raw.kinds) })),
  edits(NASTY_INTEGERS).map((edit) => (raw) => ({ ...raw, integers: edit(raw.integers) })),
  edits(NASTY_INTEGERS).map((edit) => (raw) => ({ ...raw, integers: edit(raw.integers) })),
  edits(NASTY_DOUBLES).map((edit) => (raw) => ({ ...raw, doubles: edit(raw.doubles) })),
  jsonEdits.map((edit) => (raw) => ({ ...raw, identities: edit(raw.identities) })),
  jsonEdits.map((edit) => (raw) => ({ ...raw, members: edit(raw.members) })),
  fc.tuple(fc.nat(32), fc.nat(255)).map(([at, byte]) => (raw) => ({
    ...raw,
    fixed: raw.fixed.with(at, byte),
  })),
);

/** Whether a read gives a value; any error but one of damage is a failure. */
function isRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedError) return undefined;
    throw error;
  }
}

async function expectUsable(window: Window): Promise<void> {
  const { frame, block } = await new WindowPacker(INSTANCE).pack(window);
  assert.deepEqual(readWindow(frame, await readBlock(block.frame)).window, window);
  if (window.from_ns === window.to_ns) return;
  uploadShape.check(decode(encodeUpload({ ...INSTANCE, final: false, window })));
}

/** The block of half of a window's identities, so that the window has further ones. */
async function halfBlock({ window }: Upload): Promise<Block> {
  const { block } = await new WindowPacker(INSTANCE).pack(window);
  const { series, frames, resources } = block.table.identities;
  const half = <T>(items: readonly T[]) => items.slice(0, items.length >> 1);
  return await createBlock(INSTANCE, {
    series: half(series),
    frames: half(frames),
    resources: half(resources),
  });
}

Deno.test("a window with wrong content is refused, or is a valid one", async () => {
  let [refused, valid] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      uploads,
      fc.array(rawEdits, { minLength: 1, maxLength: 3 }),
      async (upload, edits) => {
        const block = await halfBlock(upload);
        const { frame } = await new WindowPacker(INSTANCE, block).pack(upload.window);
        const changed = frameOfRaw(edits.reduce((raw, edit) => edit(raw), rawWindow(frame)));
        const read = isRead(() => readWindow(changed, { ...block, limits: UPLOAD_LIMITS }));
        if (read) await expectUsable(read.window);
        if (read) valid++;
        else refused++;
      },
    ),
    { numRuns: RUNS },
  );
  assert(refused > 100 && valid > 20, `${refused} refused, ${valid} valid`);
});

Deno.test("a block with wrong content is refused, or is a valid one", async () => {
  let [refused, valid] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      uploads,
      fc.array(jsonEdits, { minLength: 1, maxLength: 2 }),
      async ({ window, final: _, ...instance }, edits) => {
        const { block } = await new WindowPacker(instance).pack(window);
        const text = edits.reduce(
          (text, edit) => edit(text),
          new TextDecoder().decode(block.frame.payload),
        );
        const read = await readBlock(frameOf("block", new TextEncoder().encode(text))).catch(
          (error) => assert(error instanceof DamagedError, error),
        );
        if (!read) {
          refused++;
          return;
        }
        valid++;
        const again = await createBlock(read.instance, read.table.identities);
        const { instance: head, table } = await readBlock(again.frame);
        assert.deepEqual(head, read.instance);
        assert.deepEqual(table.identities, read.table.identities);
        uploadShape.check(decode(encodeUpload({
          ...head,
          final: false,
          window: { ...window, from_ns: head.start_ns, to_ns: head.start_ns + 1n },
        })));
      },
    ),
    { numRuns: RUNS },
  );
  assert(refused > 100 && valid > 20, `${refused} refused, ${valid} valid`);
});
