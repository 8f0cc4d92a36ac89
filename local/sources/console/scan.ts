/** The scan: finds needles of all recognisers in raw bytes, without decoding them. */

import { NEEDLES } from "./needles.ts";

/** Index of the byte in `[from, end)` with which the first needle ends, or -1. */
export type FindNeedle = (bytes: Uint8Array, from: number, end: number) => number;

/**
 * The search for lines that may be errors, in a part of a text that begins with a line; others are not.
 * `find` is the native search for needles, by the rule of {@linkcode findNeedle}.
 */
export function createScan(find: FindNeedle = findNeedle): FindNeedle {
  return (bytes, from, end) =>
    from + 1 < end && startsRecord(bytes[from]!, bytes[from + 1]!) ? from : find(bytes, from, end);
}

/** The search for needles without native code. It ignores case and mixes up a few punctuation marks. */
export function findNeedle(bytes: Uint8Array, from: number, end: number): number {
  let at = from + 2;
  while (at < end) {
    const last = (bytes[at - 2]! & 31) << 10 | (bytes[at - 1]! & 31) << 5 | bytes[at]! & 31;
    const shift = SHIFTS[last]!;
    if (shift > 0) at += shift;
    else if (at > from + 2 && isNeedle(bytes, at - 3)) return at;
    else at++;
  }
  return -1;
}

/** First letters of a glog line: `E1121 01:02:03…`. */
const STARTS = codes("EWF");

/** Least distance to the end of the next needle, by the three letters that end at a position. */
const SHIFTS = new Uint8Array(32 ** 3).fill(2);

/** The kinds of each four letters that are needles, one bit for each, by the lower five bits of the letters. */
const KINDS = new Uint16Array(32 ** 4);

for (const needle of NEEDLES) {
  const bytes = codes(needle);
  const [a, b, c, d] = bytes.map((byte) => byte & 31);
  const early = a! << 10 | b! << 5 | c!;
  SHIFTS[early] = Math.min(SHIFTS[early]!, 1);
  const late = b! << 10 | c! << 5 | d!;
  SHIFTS[late] = 0;
  KINDS[a! << 15 | late]! |= 1 << kindOf(bytes, 0);
}

/** Whether four bytes are a needle. */
function isNeedle(bytes: Uint8Array, at: number): boolean {
  const code = (bytes[at]! & 31) << 15 | (bytes[at + 1]! & 31) << 10 |
    (bytes[at + 2]! & 31) << 5 | bytes[at + 3]! & 31;
  return (KINDS[code]! >> kindOf(bytes, at) & 1) === 1;
}

/** Which of four bytes have the bit that letters have and digits have not. */
function kindOf(bytes: ArrayLike<number>, at: number): number {
  let kind = 0;
  for (let i = 0; i < 4; i++) kind = kind << 1 | bytes[at + i]! >> 6 & 1;
  return kind;
}

/** Whether a line begins with these bytes of a level: `E1`, `E:`, `<3`. */
function startsRecord(first: number, second: number): boolean {
  const isDigit = second >= 48 && second <= 57;
  return STARTS.includes(first) ? isDigit || second === 58 : first === 60 && isDigit;
}

function codes(letters: string): number[] {
  return Array.from(letters, (letter) => letter.charCodeAt(0));
}
