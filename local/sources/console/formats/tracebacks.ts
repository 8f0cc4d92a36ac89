/** Tracebacks that several processes write into one stream at once, dealt out line by line. */

import type { Answer, Block, Finding, LineContext } from "../block.ts";
import { isPreamble, isTracebackStart, TRACEBACK, Traceback } from "./python.ts";

/** Longest pause before a traceback that is taken for one of several at once. */
const AT_ONCE_NS = 100_000_000n;

/** Most tracebacks that are told apart at once, and most of their lines. */
const MAX_AT_ONCE = 64;
const MAX_LINES = 10_000;

/** A header right behind a name that another process had not written to its end: `ValueErrorTraceback (…):`. */
const GLUED = /^((?:\w+\.)*\w+)(Traceback \(most recent call last\):)$/;

/** A traceback that starts on this line; `before` is the log record that announced it. */
export function openTraceback(text: string, before?: Finding): Block | undefined {
  if (isPreamble(text)) return new Tracebacks(text, () => new Traceback(text, before));
  const { before: announced, start } = TRACEBACK.exec(text)?.groups ?? {};
  if (start === undefined || /^\s*\|/.test(text)) return undefined;
  const message = announced!.replace(/[\s:]+$/, "");
  const announcement = before ??
    (message ? { level: "error" as const, message, exception: "" } : undefined);
  return new Tracebacks(start, () => new Traceback(start, announcement));
}

/** One or more tracebacks of one process, or of several that share a mark. */
class Tracebacks implements Block {
  #first: () => Traceback;
  #lines: [text: string, context: LineContext][] = [];
  #dealer: Dealer;
  #findings: Finding[] | undefined;

  /** Tracebacks of which `first` makes the first, with its first line. */
  constructor(text: string, first: () => Traceback) {
    this.#first = first;
    this.#lines.push([text, { isLog: false, pause_ns: 0n, opens: () => true }]);
    this.#dealer = new Dealer(text, first(), new Neighbours([]));
  }

  take(text: string, context: LineContext): Answer {
    if (this.#lines.length >= MAX_LINES) return "ended";
    const answer = this.#dealer.take(text, context);
    if (answer === "took") {
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

  /** The findings; of several tracebacks, dealt out anew with the knowledge of all lines. */
  #all(): Finding[] {
    if (this.#findings) return this.#findings;
    if (this.#dealer.count === 1) return this.#findings = this.#dealer.findings;
    const alike = this.#dealt();
    const kinds = this.#lines.map(([text]) => kindOf(text));
    const dealer = alike.isAlike ? alike : this.#dealt(new Neighbours(kinds));
    return this.#findings = dealer.findings;
  }

  /** All lines, dealt out by what is known of them; without that as if all tracebacks were alike. */
  #dealt(neighbours?: Neighbours): Dealer {
    const [[first], ...rest] = this.#lines as [[string, LineContext], ...[string, LineContext][]];
    const dealer = new Dealer(first, this.#first(), neighbours);
    for (const [text, context] of rest) dealer.take(text, context);
    return dealer;
  }
}

/** How often lines, and pairs of a line and the one right behind it, were written. */
class Neighbours {
  #counts = new Map<string, number>();

  constructor(lines: string[]) {
    for (const [at, line] of lines.entries()) {
      for (const key of at > 0 ? [line, pairOf(lines[at - 1]!, line)] : [line]) {
        this.#counts.set(key, this.#of(key) + 1);
      }
    }
  }

  /** Share of the first line that the second follows, plus that of the second that the first precedes. */
  share(first: string, second: string): number {
    const pairs = this.#of(pairOf(first, second));
    return pairs && pairs / this.#of(first) + pairs / this.#of(second);
  }

  #of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

function pairOf(first: string, second: string): string {
  return `${first}\0${second}`;
}

/** What the lines of a traceback so far have been followed by, in any of them. */
interface Path {
  next: Map<string, Path>;
}

interface Member {
  traceback: Traceback;
  path: Path;
  last: string;
  /** Number of the last line that it has got. */
  touched: number;
}

/**
 * Deals lines to tracebacks. Processes that fail at once mostly fail alike, and write some lines in a
 * row: a line goes where its grammar, the other tracebacks and the line before make it likely.
 */
class Dealer {
  #members: Member[] = [];
  #start: Path = { next: new Map() };
  #lines = 0;
  #neighbours: Neighbours | undefined;

  constructor(text: string, first: Traceback, neighbours?: Neighbours) {
    this.#neighbours = neighbours;
    this.#add(text, first);
  }

  get count(): number {
    return this.#members.length;
  }

  /** Whether all tracebacks have the same lines and have ended. */
  get isAlike(): boolean {
    const [{ path }] = this.#members as [Member];
    return this.#members.every((other) => other.path === path) && !this.#isWriting();
  }

  get findings(): Finding[] {
    return this.#members.map(({ traceback }) => traceback.finding());
  }

  take(text: string, context: LineContext): Answer {
    const [, name, start] = this.#isWriting() && GLUED.exec(text) || [];
    if (start && this.#deal(name!, context) === "took") return this.#open(start);
    const opens = isPreamble(text) || isTracebackStart(text);
    const answer = this.#deal(text, context);
    if (answer === "took" || answer === "completed" || context.isLog || !opens) return answer;
    const isAtOnce = this.#isWriting() && context.pause_ns <= AT_ONCE_NS;
    return isAtOnce && this.#members.length < MAX_AT_ONCE ? this.#open(text) : "ended";
  }

  /** Whether a traceback has not got its exception yet. */
  #isWriting(): boolean {
    return this.#members.some(({ traceback }) => !traceback.hasEnded);
  }

  #open(text: string): Answer {
    this.#add(text, new Traceback(text));
    return "took";
  }

  #add(text: string, traceback: Traceback): void {
    const member = { traceback, path: this.#start, last: text, touched: 0 };
    this.#members.push(member);
    this.#touch(member, text);
  }

  #touch(member: Member, text: string): void {
    const kind = kindOf(text);
    member.touched = ++this.#lines;
    member.last = kind;
    let next = member.path.next.get(kind);
    if (!next) member.path.next.set(kind, next = { next: new Map() });
    member.path = next;
  }

  #deal(text: string, context: LineContext): Answer {
    const member = this.#members.length === 1 ? this.#members[0] : this.#best(text, context);
    if (!member) return this.#isWriting() ? "passed" : "ended";
    const answer = member.traceback.take(text, context);
    if (answer === "took") this.#touch(member, text);
    return answer;
  }

  /** The traceback that the line belongs to most likely; of equal ones the newest. */
  #best(text: string, context: LineContext): Member | undefined {
    let best: { member: Member; score: number } | undefined;
    for (const member of this.#members) {
      const score = this.#score(member, text, context);
      const isBetter = !best || score > best.score ||
        score === best.score && member.touched > best.member.touched;
      if (score > 0 && isBetter) best = { member, score };
    }
    return best?.member;
  }

  #score({ traceback, path, last, touched }: Member, text: string, context: LineContext): number {
    const fit = traceback.fit(text, context);
    if (fit === 0) return 0;
    const kind = kindOf(text);
    // Of tracebacks that are alike only the one that has got furthest gets a new line.
    if (!this.#neighbours) return path.next.has(kind) ? 9 : path.next.size === 0 ? fit : fit / 10;
    const together = this.#neighbours.share(last, kind);
    const isNext = path.next.has(kind) ? 3 : path.next.size === 0 || isLike(text, path) ? 1 : 0;
    const isSame = touched === this.#lines && fit >= 1 ? 2 : 0;
    return fit + 3 * together + isNext + isSame;
  }
}

/** A line without what differs from process to process: the numbers, and the message of an exception. */
function kindOf(text: string): string {
  return text.startsWith(" ")
    ? text
    : text.replace(/^((?:\w+\.)*\w+): .*$/, "$1:").replace(/\d+/g, "0");
}

/** Whether the line is an exception where others raised theirs. */
function isLike(text: string, { next }: Path): boolean {
  return !text.startsWith(" ") && [...next.keys()].some((other) => !other.startsWith(" "));
}
