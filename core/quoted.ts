/**
 * Text of the workload in text for a reader: without secrets and control characters, bounded, and between
 * marks that it cannot contain, so that it never passes for what the service says.
 */

import { redactText } from "./redact.ts";

/** Longest text of the workload. */
const LONGEST = 200;

/** Marks that no text shows, or that turn its direction. */
const HIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+/gu;

/** A word that can be no sentence and marks no line: names of metrics, hosts and most kernels. */
const WORD = /^(?!\d+[.)]$)[\w./(@][\w.:/+@%=,*~#()<>&-]+$/;

/**
 * Text of the workload as data: secrets redacted first, then control characters and marks that could
 * close a fence replaced, then cut at `length`.
 */
export function quoted(text: string, length: number = LONGEST): string {
  const plain = onOneLine(redactText(text)).replaceAll("`", "'");
  const letters = [...plain];
  return letters.length > length ? `${letters.slice(0, length - 1).join("")}…` : plain;
}

/** Text of the workload between marks that it cannot contain. */
export function fenced(text: string, length: number = LONGEST): string {
  return `\`${quoted(text, length)}\``;
}

/** A name that the workload gave: as it is where it is one word, else fenced. */
export function named(name: string, length: number = LONGEST): string {
  const word = quoted(name, length);
  return WORD.test(word) ? word : `\`${word}\``;
}

/** A sentence of ours in which names are fenced, without secrets and on one line; fences stay whole. */
export function sentenceOf(text: string, length: number): string {
  const line = onOneLine(redactText(text));
  const letters = [...line];
  if (letters.length <= length) return line;
  const cut = letters.slice(0, length - 2).join("");
  return cut.split("`").length % 2 === 0 ? `${cut}\`…` : `${cut}…`;
}

function onOneLine(text: string): string {
  return text.replace(HIDDEN, " ").replace(/\s+/g, " ").trim();
}
