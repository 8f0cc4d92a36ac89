/** The dealer: deals lines that several processes wrote at once to their stacks. */

import type { Answer, Finding, LineContext } from "../block.ts";

/** Longest pause before a stack that is taken for one of several at once. */
const AT_ONCE_NS = 100_000_000n;

/** Most stacks that are told apart at once. */
const MAX_AT_ONCE = 64;

/** What a stack says at its end if some of its lines may be those of another one. */
export const MIXED = "… (other processes wrote at the same time: lines may be theirs, or missing)";

/** How well a line fits that is of the language, but cannot be the next one. */
export const OUT_OF_ORDER = 0.01;

/** The stack of one process, which takes its lines one by one. */
export interface Stack {
  /** Whether it may end with the line that it has got last. */
  readonly mayEnd: boolean;
  /** Whether it has ended. */
  readonly hasEnded: boolean;
  /** How well the line fits as the next one, from 0 (not at all) to 9. */
  fit(text: string, context: LineContext): number;
  take(text: string, context: LineContext): Answer;
  finding(): Finding;
}

/** Stacks of one language. */
export interface Language {
  /** The stack that starts on the line, if one does. */
  start(text: string): Stack | undefined;
  /** The pieces of a line into which several processes wrote; none if one wrote all of it. */
  pieces(text: string): string[];
  /** Whether such pieces are all that was written, each by one process. */
  readonly hasWholePieces: boolean;
  /** Whether the message is the last line, to which the lines before it lead. */
  readonly isMessageLast: boolean;
  /** The line without what differs from process to process. */
  kind(text: string): string;
}

/** How often lines, and pairs of a line and the one right behind it, were written. */
export class Neighbours {
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

/** What the lines of a stack so far have been followed by, in any of them. */
interface Path {
  next: Map<string, Path>;
}

interface Member {
  stack: Stack;
  path: Path;
  last: string;
  /** Number of the last line that it has got. */
  touched: number;
  /** Whether its lines were written one right after the other. */
  isInOneGo: boolean;
  /** Whether no other stack was being written when it began, and it was written in one go. */
  isAlone: boolean;
}

interface DealerOptions {
  /** The first line, and the stack that it starts. */
  text: string;
  first: Stack;
  language: Language;
  neighbours?: Neighbours;
}

/**
 * Deals lines to stacks. Processes that fail at once mostly fail alike, and write some lines in a row:
 * a line goes where its grammar, the other stacks and the line before make it likely.
 */
export class Dealer {
  #members: Member[] = [];
  #start: Path = { next: new Map() };
  #lines = 0;
  #language: Language;
  #neighbours: Neighbours | undefined;
  /** Whether a line was written into another one, so that parts of it may be lost. */
  #isTorn = false;

  constructor({ text, first, language, neighbours }: DealerOptions) {
    this.#language = language;
    this.#neighbours = neighbours;
    const [start = text, ...pieces] = language.pieces(text);
    this.#add(start, first);
    this.#pieces(pieces, { isLog: false, pause_ns: 0n, opens: () => true });
  }

  get count(): number {
    return this.#members.length;
  }

  /** Whether all stacks have the same lines and have ended. */
  get isAlike(): boolean {
    const [{ path }] = this.#members as [Member];
    return this.#members.every((other) => other.path === path && other.stack.mayEnd);
  }

  get findings(): Finding[] {
    return this.#members.map((member) => {
      const finding = member.stack.finding();
      if (this.#isCertain(member)) return finding;
      return { ...finding, exception: `${finding.exception || finding.message}\n${MIXED}` };
    });
  }

  take(text: string, context: LineContext): Answer {
    const isAtOnce = !context.isLog && context.pause_ns <= AT_ONCE_NS && this.#isWriting();
    const pieces = isAtOnce ? this.#language.pieces(text) : [];
    return pieces.length > 0 ? this.#pieces(pieces, context) : this.#line(text, context);
  }

  /** Takes the pieces of a line; the answer is that to the last one. */
  #pieces(pieces: string[], context: LineContext): Answer {
    let answer: Answer = "passed";
    for (const piece of pieces) answer = this.#line(piece, context);
    this.#isTorn ||= answer === "took" && !this.#language.hasWholePieces;
    return answer;
  }

  #line(text: string, context: LineContext): Answer {
    const answer = this.#deal(text, context);
    if (answer === "took" || answer === "completed" || context.isLog) return answer;
    const isAtOnce = this.#isWriting() && context.pause_ns <= AT_ONCE_NS;
    const stack = isAtOnce && this.#members.length < MAX_AT_ONCE
      ? this.#language.start(text)
      : undefined;
    if (!stack) return this.#language.start(text) ? "ended" : answer;
    this.#add(text, stack);
    return "took";
  }

  /** Whether the lines of the stack are surely its own. */
  #isCertain({ stack, path }: Member): boolean {
    const all = this.#members;
    if (all.length === 1) return true;
    if (this.#isTorn || !stack.mayEnd) return false;
    const same = all.filter((other) => other.path === path);
    if (same.length === all.length || same.some(({ isAlone }) => isAlone)) return true;
    if (all.every(({ stack, isInOneGo }) => stack.mayEnd && isInOneGo)) return true;
    // Where lines of several processes were mistaken for each other's, their messages seldom agree.
    const isAgreed = same.length > 2 || same.length > 1 && same.some(({ isInOneGo }) => isInOneGo);
    return this.#language.isMessageLast && isAgreed;
  }

  /** Whether a stack has not got its last line yet. */
  #isWriting(): boolean {
    return this.#members.some(({ stack }) => !stack.hasEnded);
  }

  #add(text: string, stack: Stack): void {
    const member = {
      stack,
      path: this.#start,
      last: text,
      touched: this.#lines,
      isAlone: this.#members.every(({ stack }) => stack.mayEnd),
      isInOneGo: true,
    };
    this.#members.push(member);
    this.#touch(member, text);
  }

  #touch(member: Member, text: string): void {
    const kind = this.#language.kind(text);
    member.isInOneGo &&= member.touched === this.#lines;
    member.isAlone &&= member.touched === this.#lines;
    member.touched = ++this.#lines;
    member.last = kind;
    let next = member.path.next.get(kind);
    if (!next) member.path.next.set(kind, next = { next: new Map() });
    member.path = next;
  }

  #deal(text: string, context: LineContext): Answer {
    const member = this.#members.length === 1 ? this.#members[0] : this.#best(text, context);
    if (!member) return this.#isWriting() ? "passed" : "ended";
    const answer = member.stack.take(text, context);
    if (answer !== "took" && answer !== "completed") return answer;
    this.#touch(member, text);
    return this.#isWriting() ? "took" : answer;
  }

  /** The stack that the line belongs to most likely; of equal ones the newest. */
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

  #score({ stack, path, last, touched }: Member, text: string, context: LineContext): number {
    const fit = stack.fit(text, context);
    if (fit <= OUT_OF_ORDER) return fit;
    const kind = this.#language.kind(text);
    // Of stacks that are alike only the one that has got furthest gets a new line.
    if (!this.#neighbours) return path.next.has(kind) ? 9 : path.next.size === 0 ? fit : fit / 10;
    const together = this.#neighbours.share(last, kind);
    const isNext = path.next.has(kind) ? 3 : path.next.size === 0 || isLike(text, path) ? 1 : 0;
    const isSame = touched === this.#lines && fit >= 1 ? 2 : 0;
    return fit + 3 * together + isNext + isSame;
  }
}

/** Whether the line is an exception where others raised theirs. */
function isLike(text: string, { next }: Path): boolean {
  return !text.startsWith(" ") && [...next.keys()].some((other) => !other.startsWith(" "));
}
