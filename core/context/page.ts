/** Pages: sections of lines, the least important of which are left out until a budget of tokens is kept. */

import type { Section } from "./sections.ts";
import { estimateTokens } from "./tokens.ts";

/** A line or some that belong together, and how important it is that they stay. */
export interface Row {
  /** The text, without a line break at its end. */
  text: string;
  /** Rows of less weight are left out first. */
  weight: number;
  /** Share of the whole that the row stands for, where it is a part of one. */
  share?: number;
}

/** Lines that stand below one lead. */
export interface Block {
  /** Lines before the rows; they stay while any row does, or while there are none. */
  lead: string[];
  /** The rows. */
  rows: Row[];
  /** What the rows that may be left out are, where their lead does not say it. */
  of?: string;
  /** What no row has, told below them. */
  also?: string;
}

/** One section. */
export interface SectionText {
  /** Its name. */
  section: Section;
  /** Its heading. */
  title: string;
  /** Its blocks. */
  blocks: Block[];
}

/** Tokens of a line that says what was left out. */
const REST_TOKENS = 24;

interface Placed extends Row {
  order: number;
  tokens: number;
}

/** The text of `sections` in at most `max_tokens` (estimated). */
export function pageOf(sections: readonly SectionText[], max_tokens: number): string {
  const placed = new Map<Row, Placed>();
  let tokens = 0;
  let order = 0;
  for (const { title, blocks } of sections) {
    tokens += estimateTokens(`## ${title}\n\n`);
    for (const { lead, rows, also = "" } of blocks) {
      tokens += estimateTokens(`${lead.join("\n")}\n\n${also}`) +
        (rows.length > 0 ? REST_TOKENS : 0);
      for (const row of rows) {
        const one = { ...row, order: order++, tokens: estimateTokens(`${row.text}\n`) };
        placed.set(row, one);
        tokens += one.tokens;
      }
    }
  }
  const cut = new Set<Row>();
  const byWeight = [...placed].sort(([, a], [, b]) => a.weight - b.weight || b.order - a.order);
  for (const [row, one] of byWeight) {
    if (tokens <= max_tokens) break;
    cut.add(row);
    tokens -= one.tokens;
  }
  // What was cut last may have been more than was needed: smaller rows come back.
  for (const [row, one] of byWeight.toReversed()) {
    if (!cut.has(row) || tokens + one.tokens > max_tokens) continue;
    cut.delete(row);
    tokens += one.tokens;
  }
  return sections.map((section) => sectionText(section, cut)).filter((text) => text !== "")
    .join("\n\n") + "\n";
}

function sectionText({ title, blocks }: SectionText, cut: ReadonlySet<Row>): string {
  const texts = blocks.flatMap(({ lead, rows, of, also }) => {
    const kept = rows.filter((row) => !cut.has(row));
    const gone = rows.filter((row) => cut.has(row));
    const lines = [...lead, ...kept.map(({ text }) => text)];
    const rest = [...(gone.length > 0 ? [restOf(gone, of)] : []), ...(also ? [also] : [])];
    if (rest.length > 0) lines.push(`(${rest.join("; ")})`);
    return lines.length > 0 ? [lines.join("\n")] : [];
  });
  return texts.length > 0 ? `## ${title}\n\n${texts.join("\n\n")}` : "";
}

function restOf(gone: readonly Row[], of = ""): string {
  const shares = gone.flatMap(({ share }) => share ?? []);
  const sum = shares.reduce((total, one) => total + one, 0);
  const much = shares.length > 0 ? `, ${(100 * sum).toFixed(1)} % in all` : "";
  return `${gone.length} more${of && ` ${of}`} left out${much}`;
}
