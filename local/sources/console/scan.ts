/** Needles of all recognisers, found in raw bytes without decoding them. */

/**
 * Index of the first byte in `[from, end)` where a needle ends its first four letters, or -1. Blind to
 * case and to a few punctuation marks: what it finds is worth decoding, what it passes over is not.
 */
export function findCandidate(bytes: Uint8Array, from: number, end: number): number {
  if (from + 1 < end && STARTS.includes(bytes[from]!) && isMonth(bytes[from + 1]!)) return from;
  let at = from + 2;
  while (at < end) {
    const last = (bytes[at - 2]! & 31) << 10 | (bytes[at - 1]! & 31) << 5 | bytes[at]! & 31;
    const shift = SHIFTS[last]!;
    if (shift > 0) at += shift;
    else if (at > from + 2 && NEEDLES[(bytes[at - 3]! & 31) << 15 | last]) return at;
    else at++;
  }
  return -1;
}

/** First letters of a glog line: `E1121 01:02:03…`. */
const STARTS = [..."EWF"].map((letter) => letter.charCodeAt(0));

const DIGITS = [..."0123456789"];

/** Four letters of each text that a recogniser looks for. */
const NEEDLE_TEXTS = [
  // Levels.
  ...["erro", "warn", "fata", "crit", "seve", "emer", "aler", "err ", "err]", "wrn "],
  ...["[e] ", "[w] ", "[f] ", ": e ", ": w ", ": f ", '":50', '":40', '":60'],
  // Tracebacks, panics and exceptions ("…ceback", "…xception", "terminate", "Process-1:").
  ...["ceba", "xcep", "pani", "unca", "mina", "goro", "ess-"],
  // Faults ("Segmentation", "segfault", " fault", "Killed", "Aborted", "assert", "of memory", "illegal").
  ...[
    "segm",
    "segf",
    " fau",
    "kill",
    "abor",
    "sser",
    "f me",
    "fail",
    "egal",
    "oom-",
    "xid ",
    "sigq",
  ],
  // Where Python and Node say that code is wrong: `", line 1`, `node:internal/…`, `main.mjs:12`.
  '", l',
  ...["in", "as", "ev", "fs", "ne", "st", "ch", "bu", "ht", "_h", "dg", "zl", "re", "ur"]
    .map((module) => `e:${module}`),
  ...DIGITS.flatMap((digit) => [`js:${digit}`, `ts:${digit}`, `sx:${digit}`]),
  // glog and llama.cpp: `\nE11…`, ` E11…`, `.123 E …`.
  ...["e", "w", "f"].flatMap((letter) =>
    DIGITS.flatMap((digit) => [
      ...["\n", "\r", " ", "["].flatMap((
        before,
      ) => [`${before}${letter}0${digit}`, `${before}${letter}1${digit}`]),
      `${digit} ${letter} `,
    ])
  ),
];

/** By the letters that end at a position: how far the next end of a needle is at least. */
const SHIFTS = new Uint8Array(32 ** 3).fill(2);

/** The needles' letters, folded. */
const NEEDLES = new Uint8Array(32 ** 4);

for (const needle of NEEDLE_TEXTS) {
  const [a, b, c, d] = Array.from(needle, (letter) => letter.charCodeAt(0) & 31);
  const early = a! << 10 | b! << 5 | c!;
  SHIFTS[early] = Math.min(SHIFTS[early]!, 1);
  const late = b! << 10 | c! << 5 | d!;
  SHIFTS[late] = 0;
  NEEDLES[a! << 15 | late] = 1;
}

/** Whether the byte is the first digit of a month. */
function isMonth(byte: number): boolean {
  return byte === 48 || byte === 49;
}
