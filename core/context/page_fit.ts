/** Fitting of pages: the lines of least weight are left out until a budget of tokens is kept. */

import type { Block, Row, SectionText } from "./section_text.ts";
import { estimateTokens } from "./tokens.ts";

/** Weight of a lead that stands for itself, where none is given. */
const LEAD = 500;

/** What stays of a block. */
export interface Fitted {
  /** The block. */
  block: Block;
  /** Rows that stay. */
  kept: ReadonlySet<Row>;
  /** Whether the block is on the page at all. */
  isShown: boolean;
}

/** What is left out as one: a row, or the lead of a block without rows. */
interface Unit {
  part: Part;
  row: Row | null;
  weight: number;
  tokens: number;
}

/** A block and the tokens it takes. */
class Part implements Fitted {
  readonly kept = new Set<Row>();
  hasLead = true;
  readonly #leadTokens: number;
  readonly #goneTokens: number;
  readonly #alsoTokens: number;
  #rowTokens = 0;

  constructor(readonly block: Block, readonly section: number) {
    const { lead, rows, of = "", also = "" } = block;
    const share = rows.some(({ share }) => share !== undefined) ? ", 99.9 % in all" : "";
    this.#leadTokens = estimateTokens(`${lead.join("\n")}\n\n`);
    this.#goneTokens = estimateTokens(`(${rows.length} more ${of} left out${share})\n`);
    this.#alsoTokens = also === "" ? 0 : estimateTokens(`(; ${also})\n`);
  }

  get isShown(): boolean {
    return this.kept.size > 0 || (this.hasLead && isAlone(this.block));
  }

  get tokens(): number {
    if (!this.isShown) return 0;
    return this.#leadTokens + this.#rowTokens + this.#alsoTokens +
      (this.kept.size < this.block.rows.length ? this.#goneTokens : 0);
  }

  /** Takes a unit in or out. */
  set({ row, tokens }: Unit, isIn: boolean): void {
    if (row === null) this.hasLead = isIn;
    else if (isIn) this.kept.add(row);
    else this.kept.delete(row);
    if (row !== null) this.#rowTokens += isIn ? tokens : -tokens;
  }
}

/** Whether the lead of a block says something without its rows. */
function isAlone({ lead, rows, weight }: Block): boolean {
  return lead.length > 0 && (rows.length === 0 || weight !== undefined);
}

/**
 * What stays of the blocks of each section, in at most `max_tokens`; `rest_tokens` of them are for what
 * is said where anything is left out.
 */
export function fit(
  sections: readonly SectionText[],
  { max_tokens, rest_tokens }: { max_tokens: number; rest_tokens: number },
): Fitted[][] {
  const parts = sections.map(({ blocks }, at) => blocks.map((block) => new Part(block, at)));
  const headings = sections.map(({ title }) => estimateTokens(`## ${title}\n\n`));
  const units = parts.flat().flatMap(unitsOf);
  for (const unit of units) unit.part.set(unit, true);
  const headingOf = (section: number) =>
    parts[section]!.some(({ isShown }) => isShown) ? headings[section]! : 0;
  let tokens = parts.reduce(
    (sum, blocks, at) => sum + headingOf(at) + blocks.reduce((all, part) => all + part.tokens, 0),
    0,
  );
  if (tokens <= max_tokens) return parts;
  const set = (unit: Unit, isIn: boolean) => {
    const { part } = unit;
    const before = part.tokens + headingOf(part.section);
    part.set(unit, isIn);
    tokens += part.tokens + headingOf(part.section) - before;
  };
  const most = max_tokens - rest_tokens;
  const byWeight = units.map((unit, order) => ({ unit, order }))
    .sort((a, b) => a.unit.weight - b.unit.weight || b.order - a.order)
    .map(({ unit }) => unit);
  const cut: Unit[] = [];
  for (const unit of byWeight) {
    if (tokens <= most) break;
    set(unit, false);
    cut.push(unit);
  }
  // What was cut last may have been more than was needed: smaller rows come back.
  for (const unit of cut.toReversed()) {
    set(unit, true);
    if (tokens > most) set(unit, false);
  }
  return parts;
}

function unitsOf(part: Part): Unit[] {
  const { rows, weight = LEAD } = part.block;
  const units = rows.map((row): Unit => ({
    part,
    row,
    weight: row.weight,
    tokens: estimateTokens(`${row.text}\n`),
  }));
  return isAlone(part.block) ? [{ part, row: null, weight, tokens: 0 }, ...units] : units;
}
