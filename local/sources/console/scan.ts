/** The scan: finds needles of all recognisers in raw bytes, without decoding them. */

/**
 * Index of the first byte in `[from, end)` where the four letters of a needle end, or -1. It ignores
 * case and mixes up a few punctuation marks: a line that it finds may be an error, others are not.
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
  // Places of errors in Python and Node: `", line 1`, `node:internal/…`, `main.mjs:12`.
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

/** Least distance to the end of the next needle, by the three letters that end at a position. */
const SHIFTS = new Uint8Array(32 ** 3).fill(2);

/** Whether four letters are a needle, by their lower five bits. */
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
