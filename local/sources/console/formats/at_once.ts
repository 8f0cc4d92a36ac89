/** Stacks that several processes write into one stream at once. */

import type { Answer, Block, Finding, LineContext } from "../block.ts";
import { Dealer, type Language, Neighbours, type Stack } from "./dealer.ts";

/** Most lines of stacks that are told apart. */
const MAX_LINES = 10_000;

/** One or more stacks of one process, or of several that share a mark. */
export class AtOnce implements Block {
  #language: Language;
  #first: () => Stack;
  #lines: [text: string, context: LineContext][] = [];
  #dealer: Dealer;
  #findings: Finding[] | undefined;

  /** Stacks of which `first` makes the first, with the line `text`. */
  constructor(text: string, first: () => Stack, language: Language) {
    this.#language = language;
    this.#first = first;
    this.#lines.push([text, { isLog: false, pause_ns: 0n, opens: () => true }]);
    this.#dealer = new Dealer({ text, first: first(), language, neighbours: new Neighbours([]) });
  }

  take(text: string, context: LineContext): Answer {
    if (this.#lines.length >= MAX_LINES) return "ended";
    const answer = this.#dealer.take(text, context);
    if (answer === "took" || answer === "completed") {
      this.#lines.push([text, context]);
      this.#findings = undefined;
    }
    return answer;
  }

  finding(): Finding {
    return this.#all()[0]!;
  }

  others(): Finding[] {
    return this.#all().slice(1);
  }

  /** The findings; of several stacks, dealt out anew with the knowledge of all lines. */
  #all(): Finding[] {
    if (this.#findings) return this.#findings;
    if (this.#dealer.count === 1) return this.#findings = this.#dealer.findings;
    const alike = this.#dealt();
    const kinds = this.#lines.map(([text]) => this.#language.kind(text));
    const dealer = alike.isAlike ? alike : this.#dealt(new Neighbours(kinds));
    return this.#findings = dealer.findings;
  }

  /** All lines, dealt out by what is known of them; without that as if all stacks were alike. */
  #dealt(neighbours?: Neighbours): Dealer {
    const [[text], ...rest] = this.#lines as [[string, LineContext], ...[string, LineContext][]];
    const dealer = new Dealer({
      text,
      first: this.#first(),
      language: this.#language,
      neighbours,
    });
    for (const [line, context] of rest) dealer.take(line, context);
    return dealer;
  }
}
