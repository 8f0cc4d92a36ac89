/** Limits of packed bytes: what few bytes may stand for, and what is not written. */

import assert from "node:assert/strict";
import { MAX_FRAMES, MAX_MAGNITUDE, MAX_WINDOW_FRAMES } from "../limits.ts";
import { type ProfileSeries, type Series, seriesKey } from "../series/mod.ts";
import { emptyWindow, mergeAll, type Window } from "../window.ts";
import { frameOf } from "./frame.ts";
import { createBlock } from "./block.ts";
import {
  DamagedError,
  type Frame,
  type Identities,
  MAX_PAYLOAD_BYTES,
  readBlock,
  readWindow,
  type SeriesIdentity,
  UPLOAD_LIMITS,
  WindowPacker,
} from "./mod.ts";
import { INSTANCE } from "./testdata/instance.ts";
import { frameOfRaw, type RawWindow, rawWindow } from "./testdata/raw_window.ts";

const limits = UPLOAD_LIMITS;
const FRAMES_OF_ONE = 4_096;

/** A window without series, changed. */
async function rawOf(identities: Partial<Identities>, parts: Partial<RawWindow>) {
  const block = await createBlock(INSTANCE, {
    series: [],
    frames: [],
    resources: [],
    ...identities,
  });
  const { frame } = await new WindowPacker(INSTANCE, block).pack(emptyWindow(1n));
  return { block, frame: frameOfRaw({ ...rawWindow(frame), ...parts }) };
}

/** A window of profiles that all have the same frames, without values. */
async function profilesOf(count: number) {
  const lists = Array.from({ length: count }, () => [FRAMES_OF_ONE, FRAMES_OF_ONE]);
  const zeros = count + count * FRAMES_OF_ONE * 2;
  return await rawOf({
    series: Array.from({ length: count }, (_, i): SeriesIdentity => ({
      name: `profile_${i}`,
      type: "profile",
      tags: {},
    })),
    frames: Array.from({ length: FRAMES_OF_ONE }, (_, i) => `frame ${i}`),
  }, {
    kinds: [8n * BigInt(zeros)],
    integers: [count, count, ...lists.flat(), 0].map(BigInt),
  });
}

Deno.test("the profiles of an upload have at most 2^20 frames together", async () => {
  const most = await profilesOf(MAX_WINDOW_FRAMES / FRAMES_OF_ONE);
  assert(most.frame.bytes.length < 2_000);
  const { window } = readWindow(most.frame, { ...most.block, limits });
  const [profile] = window.series.values();
  assert.equal((profile as ProfileSeries).frames.size, FRAMES_OF_ONE);

  const more = await profilesOf(MAX_WINDOW_FRAMES / FRAMES_OF_ONE + 1);
  assert.throws(() => readWindow(more.frame, { ...more.block, limits }), DamagedError);
  const many = await profilesOf(20_000);
  assert.throws(() => readWindow(many.frame, { ...many.block, limits }), DamagedError);
});

Deno.test("a merge of uploads may pass their limits", async () => {
  const numbers = Array.from({ length: MAX_FRAMES }, (_, i) => i);
  const windowOf = (first: number): Window => {
    const window = { ...emptyWindow(BigInt(first)), to_ns: BigInt(first + MAX_FRAMES) };
    const base = { tags: {}, updated_ns: window.to_ns };
    const frames = new Map(numbers.map((i) => [`f${first + i}`, { value: 1, samples: 1 }]));
    const profile: Series = { ...base, name: "p", type: "profile", frames };
    const counter: Series = { ...base, name: "c", type: "counter", total: MAX_MAGNITUDE };
    for (const series of [profile, counter]) window.series.set(seriesKey(series), series);
    return window;
  };
  const [first, second] = [windowOf(0), windowOf(MAX_FRAMES)];
  const merged = mergeAll([first, second]);
  const { frame, block } = await new WindowPacker(INSTANCE).pack(merged);
  assert.deepEqual(readWindow(frame, block).window, merged);
  assert.throws(() => readWindow(frame, { ...block, limits }), DamagedError);

  const packer = new WindowPacker(INSTANCE);
  assert.equal(await packer.merge(await packer.pack(first), await packer.pack(second)), undefined);
});

Deno.test("a histogram cannot have more bins than there are", async () => {
  const series: SeriesIdentity[] = [{ name: "h", type: "histogram", tags: {}, buckets: "bins" }];
  const bins = 2n ** 21n;
  const integers = [1n, 1n, bins, 16n, ...new Array<bigint>(Number(bins)).fill(2n)];
  const { block, frame } = await rawOf({ series }, { kinds: [32n, 22n], integers });
  assert.throws(() => readWindow(frame, block), { name: "DamagedError", message: /at most 32768/ });
});

Deno.test("JSON with more parts than an upload may have is refused", async () => {
  const objects = `[${"{},".repeat(2 ** 20)}0]`;
  const members = await rawOf({}, { members: `{"traces":${objects}}` });
  assert.throws(() => readWindow(members.frame, members.block), DamagedError);
  const identities = await rawOf({}, {
    identities: `{"series":[],"frames":[],"resources":[],"more":${objects}}`,
  });
  assert.throws(() => readWindow(identities.frame, identities.block), DamagedError);
  await assert.rejects(readBlock(changedBlock(identities.block.frame, `"more":${objects}`)), {
    name: "DamagedError",
  });
  await readBlock(changedBlock(identities.block.frame, '"more":[{}]'));
});

/** The block with a further member. */
function changedBlock({ payload }: Frame, member: string): Frame {
  const text = new TextDecoder().decode(payload).replace(/}$/, `,${member}}`);
  return frameOf("block", new TextEncoder().encode(text));
}

Deno.test("a block does not keep identities that would make it too large", async () => {
  const packer = new WindowPacker(INSTANCE);
  const windowOf = (name: string) => {
    const window = { ...emptyWindow(1n), to_ns: 2n };
    const tags = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`${name}${i}`, "x".repeat(60_000)]),
    );
    for (const part of ["a", "b", "c"]) {
      const gauge: Series = {
        name: part,
        type: "gauge",
        tags,
        updated_ns: 2n,
        value: 1,
      };
      window.series.set(seriesKey(gauge), gauge);
    }
    return window;
  };
  const first = await packer.pack(windowOf("first"));
  let last = first;
  for (let i = 0; i < 3; i++) last = await packer.pack(windowOf("second"));
  assert.notEqual(last.block, first.block);
  assert.deepEqual(readWindow(last.frame, last.block).window, windowOf("second"));
});

Deno.test("what is too large for a frame is not written", async () => {
  const window = { ...emptyWindow(1n), to_ns: 2n };
  const members = { traces: "x".repeat(MAX_PAYLOAD_BYTES) };
  await assert.rejects(new WindowPacker(INSTANCE).pack(window, { members }), {
    name: "RangeError",
    message: /^Cannot pack: must have at most 16777216 bytes/,
  });
  const tags = { large: "x".repeat(MAX_PAYLOAD_BYTES) };
  const gauge = { name: "g", type: "gauge", tags, updated_ns: 2n, value: 0 } as const;
  window.series.set(seriesKey(gauge), gauge);
  await assert.rejects(new WindowPacker(INSTANCE).pack(window), { name: "RangeError" });
});
