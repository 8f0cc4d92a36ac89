/**
 * Tokens of a text, estimated: an upper bound in practice of what the o200k_base encoding gives for
 * tables and plain English, within some percent. A tokenizer has a table of megabytes.
 */

/** Pieces that the encoding never joins: words, digits by three, runs of marks, line breaks. */
const PIECES = /(\s?\p{L}+)|(\p{N}{1,3})|(\s*\n+)|( ?[^\s\p{L}\p{N}]+)|(\s+)/gu;
/** Longest word that mostly is one token. */
const WORD = 7;
/** Letters of each further token. */
const MORE = 4;
/** Marks in a row that are one token. */
const MARKS = 2;

/** Tokens of `text`, at most some percent above the exact number. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [piece, word, digits, , marks] of text.matchAll(PIECES)) {
    if (word !== undefined) {
      // Letters outside of ASCII are seldom joined.
      const letters = piece.trimStart();
      tokens += /^[\x20-\x7e]*$/.test(letters)
        ? 1 + Math.max(0, Math.ceil((letters.length - WORD) / MORE))
        : letters.length;
    } else if (marks !== undefined) tokens += Math.ceil(marks.trimStart().length / MARKS);
    else if (digits !== undefined) tokens += 1;
    else tokens += 1;
  }
  return tokens;
}
