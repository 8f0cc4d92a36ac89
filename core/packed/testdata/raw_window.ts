/** Packed windows as their parts, which a test may change before it writes them with right checksums. */

import { type Frame, frameOf } from "../frame.ts";

/** Bytes of the hash, the span and the flags. */
const FIXED_BYTES = 33;

/** The parts of a packed window. */
export interface RawWindow {
  /** Hash of the block, span and flags. */
  fixed: Uint8Array;
  /** Further identities: JSON, or nothing. */
  identities: string;
  /** Members: JSON, or nothing. */
  members: string;
  /** Runs of kinds. */
  kinds: bigint[];
  integers: bigint[];
  doubles: number[];
}

/** The parts of a window. */
export function rawWindow({ payload }: Frame): RawWindow {
  let at = FIXED_BYTES;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = payload[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const text = () => {
    const length = Number(varint());
    return new TextDecoder().decode(payload.subarray(at, at += length));
  };
  const varints = (end: number) => {
    const values: bigint[] = [];
    while (at < end) values.push(varint());
    return values;
  };
  const [identities, members] = [text(), text()];
  const [kinds, integers, doubles] = [varint(), varint(), varint()].map(Number);
  const view = new DataView(payload.buffer, payload.byteOffset);
  return {
    fixed: payload.slice(0, FIXED_BYTES),
    identities,
    members,
    kinds: varints(at + kinds!),
    integers: varints(at + integers!),
    doubles: Array.from({ length: doubles! / 8 }, (_, i) => view.getFloat64(at + 8 * i, true)),
  };
}

/** The frame of a window with these parts. */
export function frameOfRaw(raw: RawWindow): Frame {
  const kinds = raw.kinds.flatMap(varint);
  const integers = raw.integers.flatMap(varint);
  const doubles = [...new Uint8Array(new Float64Array(raw.doubles).buffer)];
  const lengths = [kinds, integers, doubles].flatMap(({ length }) => varint(BigInt(length)));
  const texts = [raw.identities, raw.members].flatMap((text) => {
    const encoded = new TextEncoder().encode(text);
    return [...varint(BigInt(encoded.length)), ...encoded];
  });
  const parts = [...raw.fixed, ...texts, ...lengths, ...kinds, ...integers, ...doubles];
  return frameOf("window", new Uint8Array(parts));
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
}
