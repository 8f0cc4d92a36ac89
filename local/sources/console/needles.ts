/** Needles: texts of four letters, one of which each line has that a recogniser may take. */

const DIGITS = [..."0123456789"];

/** Four letters of each text that a recogniser looks for. */
export const NEEDLES: readonly string[] = [
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
  // Errors of the C library ("is a directory", "file exists", "too many", "timed out", "by remote", …).
  ...["a di", "exis", "oo m", "oo l", "quot", "ad-o", "roke", "bad ", "tale"],
  ...["st i", "no r", "imed", "dy i", "emot"],
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
