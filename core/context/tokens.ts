/**
 * Tokens of a text, estimated: what the o200k_base encoding gives for pages, or some percent more. The
 * encoding itself has a table of megabytes.
 */

/** Pieces as the encoding splits a text before it joins letters: words, digits by three, marks, blanks. */
const PIECES =
  /(?<lead>[^\r\n\p{L}\p{N}]?)(?<letters>[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)(?:'(?:[stmd]|re|ve|ll))?|(?<digits>\p{N}{1,3})|(?<marks> ?[^\s\p{L}\p{N}]+[\r\n/]*)|\s*[\r\n]+|\s+(?!\S)|\s+/gu;

/** Letters that mostly are in one token with the letter before them, by that letter. */
const FOLLOWERS: Readonly<Record<string, string>> = {
  a: "abcdfghiklmnprstuvwxy",
  b: "abegijloruy",
  c: "abehiklmorsty",
  d: "acdeilorsuy",
  e: "abcdfglmnpqrstuvwxy",
  f: "acefgilortuy",
  g: "behimnorstuy",
  h: "adehiotuy",
  i: "abcdefgiklmnoprstvxz",
  j: "aou",
  k: "egnsv",
  l: "adeiklostuvy",
  m: "abdeilopsu",
  n: "acdefgikmnostuy",
  o: "abcdfgijklmnoprstuvwxy",
  p: "adehilmoprstuy",
  q: "alru",
  r: "acdefgikmnorstuvwy",
  s: "acehiklmopstuy",
  t: "acdehioprstuvyz",
  u: "abcdefgilmnprstux",
  v: "aeio",
  w: "abdehilnors",
  x: "cpt",
  y: "eilmnopst",
  z: "aei",
};

/** Tokens that a pair of letters adds which is not among the followers; one in a plain word adds less. */
const SELDOM = 0.9;
const SELDOM_ONCE = 0.7;
const SELDOM_ONCE_PLAIN = 0.1;
/** Tokens that a word adds without a blank before it, and with a mark before it. */
const BARE = 0.25;
const MARKED = 0.5;
/** Letters of a word from which on each adds a part of a token. */
const LONG = 8;
const LONG_LETTER = 0.12;
/** Share by which pages may have more tokens than their words usually have. */
const MARGIN = 0.035;

/** Tokens of a letter of another script, by the end of its code points: of texts without a meaning. */
const LETTERS: readonly [end: number, tokens: number][] = [
  [0x250, 1.3], // Latin
  [0x370, 2], // Marks above and below letters
  [0x450, 1], // Greek, Cyrillic
  [0x5d0, 1.8],
  [0x700, 0.95], // Hebrew, Arabic
  [0x900, 2.2],
  [0xf00, 1.4], // India, Thai
  [0x1100, 2.2],
  [0x3040, 3],
  [0x3100, 1.25], // Kana
  [0x4e00, 3],
  [0xa000, 2.1], // Han
  [0xac00, 3],
  [0xd7b0, 2.4], // Hangul
  [0x10000, 3],
  [0x110000, 4],
];

/** Tokens of a mark or a digit outside of ASCII, by the end of its code points. */
const MARKS: readonly [end: number, tokens: number][] = [
  [0x100, 1],
  [0x2000, 2],
  [0x2070, 1.5], // Dashes, dots, quotation marks
  [0x2e00, 2.4],
  [0x3000, 3],
  [0x3040, 1.5], // Punctuation of Han
  [0x10000, 3],
  [0x110000, 4],
];

/** Tokens of `text`, at most some percent above the exact number. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let words = 0;
  for (const { groups = {} } of text.matchAll(PIECES)) {
    const { letters, lead = "", marks, digits } = groups;
    if (letters !== undefined) words += wordTokens(lead, letters);
    else if (marks !== undefined) tokens += markTokens(marks.trimStart());
    else tokens += digits === undefined ? 1 : Math.max(1, foreignTokens(digits, MARKS));
  }
  return Math.ceil(tokens + words * (1 + MARGIN));
}

/** Tokens of letters and what stands before them: a blank, a mark or nothing. */
function wordTokens(lead: string, letters: string): number {
  const foreign = foreignTokens(letters, LETTERS) + foreignTokens(lead, MARKS);
  if (foreign > 0 && !/[a-z]/i.test(letters)) return 0.4 + foreign;
  const low = letters.toLowerCase();
  const isPlain = lead === " ";
  const isMarked = lead !== "" && !isPlain;
  let seldom = 0;
  for (let at = 1; at < low.length; at++) {
    const followers = FOLLOWERS[low[at - 1]!];
    if (followers && low[at]! <= "z" && !followers.includes(low[at]!)) seldom++;
  }
  const once = isPlain ? SELDOM_ONCE_PLAIN : SELDOM_ONCE;
  return 1 + foreign + (seldom === 1 ? once : SELDOM * seldom) +
    (isMarked ? MARKED : !isPlain && low.length > 2 ? BARE : 0) +
    LONG_LETTER * Math.max(0, low.length - LONG);
}

function markTokens(marks: string): number {
  const foreign = foreignTokens(marks, MARKS);
  const { length } = marks.replace(/[^ -~]/g, "");
  return foreign + (length > 3 ? 0.75 * length : length > 0 ? 1 + 0.4 * (length - 1) : 0);
}

/** Tokens of what is outside of ASCII. */
function foreignTokens(text: string, table: typeof LETTERS): number {
  let tokens = 0;
  for (const letter of text) {
    const point = letter.codePointAt(0)!;
    if (point >= 0x80) tokens += table.find(([end]) => point < end)![1];
  }
  return tokens;
}
