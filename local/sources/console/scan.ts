/** The scan: finds needles of all recognisers in raw bytes, without decoding them. */

/**
 * Index of the first byte in `[from, end)` where the four letters of a needle end, or -1. It ignores
 * case and mixes up a few punctuation marks: a line that it finds may be an error, others are not.
 */
export function findCandidate(bytes: Uint8Array, from: number, end: number): number {
  if (from + 1 < end && startsRecord(bytes[from]!, bytes[from + 1]!)) return from;
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
const STARTS = codes("EWF");

const DIGITS = [..."0123456789"];

/** Four letters of each text that a recogniser looks for. */
const NEEDLE_TEXTS = [
  // Levels.
  ...["erro", "warn", "fata", "crit", "seve", "emer", "aler", "err ", "err]", "err!", "wrn "],
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
  // Ends ("exited with code 1", "non-zero", "is dead", "died", "crashed", "signal 9", "abruptly", "pure virtual", …).
  ...[
    "xit ",
    "xite",
    "th c",
    "th s",
    "th e",
    "rned",
    "n-ze",
    "onze",
    "dead",
    "died",
    "rash",
    "igna",
  ],
  ...["brup", "brok", "virt", "misa", "at l", "-e l"],
  // Programs ("not found", "*** ", "such file", "denied", "refused", "space left", "cannot ", …).
  ...[
    "t fo",
    "*** ",
    "such",
    "deni",
    "efus",
    "ce l",
    "cann",
    "can'",
    "uldn",
    "nabl",
    "inva",
    "unkn",
  ],
  ...["unre", "unde", "not ", "nexp", "nbou", "busy", "onfl", "halt", "xhau", "corr"],
  ...[
    "y un",
    "issi",
    "no m",
    "doub",
    "nali",
    "l li",
    "m li",
    "lua:",
    "rifi",
    "curl",
    "wget",
    "no s",
    "rese",
    "lost",
  ],
  // Levels at the beginning of a line: `E: `, `<3>`, `<11>`.
  ...["\n", "\r"].flatMap((end) => [`${end}e: `, `${end}w: `]),
  ...["\n", "\r"].flatMap((end) =>
    DIGITS.flatMap((digit) => [`${end}<${digit}>`, `${end}<${digit}1`, `${end}<${digit}2`])
  ),
  // Places of errors in Python and Node: `", line 1`, `node:internal/…`, `main.mjs:12`.
  '", l',
  ...["in", "as", "ev", "fs", "ne", "st", "ch", "bu", "ht", "_h", "dg", "zl", "re", "ur"]
    .map((module) => `e:${module}`),
  ...DIGITS.flatMap((digit) => [`js:${digit}`, `ts:${digit}`, `sx:${digit}`]),
  // glog and llama.cpp: `\nE11…`, ` E11…`, `.123 E …`.
  ...["e", "w", "f", "c"].flatMap((letter) =>
    DIGITS.flatMap((digit) => [
      ...["\n", "\r", " ", "["].flatMap((
        before,
      ) => [`${before}${letter}0${digit}`, `${before}${letter}1${digit}`]),
      `${digit} ${letter} `,
    ])
  ),
  // PyTorch, whose months are not padded: `[E218 …`.
  ...["e", "w", "f"].flatMap((letter) =>
    DIGITS.slice(2).flatMap((month) =>
      ["0", "1", "2", "3"].map((day) => `[${letter}${month}${day}`)
    )
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

/** Whether a line begins with these bytes of a level: `E1`, `E:`, `<3`. */
function startsRecord(first: number, second: number): boolean {
  const isDigit = second >= 48 && second <= 57;
  return STARTS.includes(first) ? isDigit || second === 58 : first === 60 && isDigit;
}

function codes(letters: string): number[] {
  return Array.from(letters, (letter) => letter.charCodeAt(0));
}
