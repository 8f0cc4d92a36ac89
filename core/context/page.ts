/** Pages: sections of lines, the least important of which are left out until a budget of tokens is kept. */

import type { Row, SectionText } from "./section_text.ts";
import { fit, type Fitted } from "./page_fit.ts";
import { estimateTokens } from "./tokens.ts";
import { percent } from "./words.ts";

/** The text of `sections` in at most `max_tokens` (estimated). */
export function pageOf(sections: readonly SectionText[], max_tokens: number): string {
  const names = sections.map(({ section }) => section);
  const rest_tokens = estimateTokens(`\n${restOfPage({ max_tokens, all: names, some: [] })}\n`);
  const fitted = fit(sections, { max_tokens, rest_tokens });
  const texts = sections.flatMap(({ title }, at) => sectionText(title, fitted[at]!));
  const left = (isLeft: (blocks: readonly Fitted[]) => boolean) =>
    names.filter((_, at) => isLeft(fitted[at]!));
  const isGone = (blocks: readonly Fitted[]) => blocks.every(({ isShown }) => !isShown);
  const lost = (blocks: readonly Fitted[]) =>
    blocks.some(({ isShown, block }) => !isShown && block.rows.length + block.lead.length > 0);
  const all = left((blocks) => lost(blocks) && isGone(blocks));
  const some = left((blocks) => lost(blocks) && !isGone(blocks));
  if (all.length + some.length > 0) texts.push(restOfPage({ max_tokens, all, some }));
  return texts.join("\n\n") + "\n";
}

function sectionText(title: string, blocks: readonly Fitted[]): string[] {
  const texts = blocks.filter(({ isShown }) => isShown).map(({ block, kept }) => {
    const { lead, rows, of, also } = block;
    const gone = rows.filter((row) => !kept.has(row));
    const lines = [...lead, ...rows.filter((row) => kept.has(row)).map(({ text }) => text)];
    const rest = [...(gone.length > 0 ? [restOf(gone, of)] : []), ...(also ? [also] : [])];
    if (rest.length > 0) lines.push(`(${rest.join("; ")})`);
    return lines.join("\n");
  });
  return texts.length > 0 ? [`## ${title}\n\n${texts.join("\n\n")}`] : [];
}

/** What is not on the page at all: sections of which nothing is, and tables of those of which some is. */
function restOfPage(
  { max_tokens, all, some }: {
    max_tokens: number;
    all: readonly string[];
    some: readonly string[];
  },
): string {
  const parts = [
    ...(all.length > 0 ? [`all of ${all.join(", ")}`] : []),
    ...(some.length > 0 ? [`parts of ${some.join(", ")}`] : []),
  ];
  return `(left out to keep max_tokens=${max_tokens}: ${
    parts.join("; ")
  }. Ask with a larger max_tokens, or for sections=.)`;
}

function restOf(gone: readonly Row[], of = ""): string {
  const shares = gone.flatMap(({ share }) => share ?? []);
  const sum = shares.reduce((total, one) => total + one, 0);
  const much = shares.length > 0 ? `, ${percent(sum)} % in all` : "";
  return `${gone.length} more${of && ` ${of}`} left out${much}`;
}
