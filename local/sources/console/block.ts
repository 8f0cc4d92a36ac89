/** What recognisers make of lines: blocks that take further lines until they end in a finding. */

import type { ErrorEntry } from "@service/core";

/** A warning or an error found in the console. */
export interface Finding {
  level: ErrorEntry["level"];
  message: string;
  /** Traceback, stack or report; empty when there is none. */
  exception: string;
  /** Process that wrote it, where the text says so. */
  pid?: string;
}

/** What a block did with a line: took it, took it as its last, let it pass, or had ended before it. */
export type Answer = "took" | "completed" | "passed" | "ended";

/** What a line is besides its text. */
export interface LineContext {
  /** Whether it is a log record of its own. */
  isLog: boolean;
  /** Time since the block's last line. */
  pause_ns: bigint;
  /** Whether it would open a block of its own. */
  opens(): boolean;
}

/** Lines of one process that belong together. */
export interface Block {
  /** Offers the next line of its process. */
  take(text: string, context: LineContext): Answer;
  /** What the lines say, once there are no more; `null` where they turned out to say nothing. */
  finding(): Finding | null;
}

/** Characters of one block that are held; further ones are only counted. */
const MAX_BLOCK_LENGTH = 65_536;

/** Lines that grow up to a limit. */
export class Lines {
  #lines: string[] = [];
  #length = 0;
  #more = 0;

  /** Lines that start with `first`. */
  constructor(...first: string[]) {
    for (const line of first) this.push(line);
  }

  /** Adds a line. */
  push(line: string): void {
    if (this.#length + line.length > MAX_BLOCK_LENGTH) this.#more += line.length + 1;
    else {
      this.#lines.push(line);
      this.#length += line.length + 1;
    }
  }

  /** How many lines are held. */
  get count(): number {
    return this.#lines.length;
  }

  /** The lines as one text, blank ones at its end left out. */
  get text(): string {
    const text = this.#lines.join("\n").trimEnd();
    return this.#more > 0 ? `${text}\n… (${this.#more} more characters)` : text;
  }
}

/** A block described by which lines it takes. */
export interface SimpleBlockOptions {
  level?: Finding["level"];
  message: string;
  /** The line that opens it. */
  first: string;
  pid?: string;
  /** Lines that belong to it. */
  takes: RegExp;
  /** A line that is its last. */
  last?: RegExp;
  /** The message, where a later line has it in its first group. */
  says?: RegExp;
}

/** A block that takes the lines which match, and whose exception is all its lines where it has several. */
export function simpleBlock(options: SimpleBlockOptions): Block {
  const { level = "error", first, pid, takes, last, says } = options;
  let message = options.message;
  const lines = new Lines(first);
  return {
    take(text) {
      const said = says?.exec(text)?.[1];
      if (said) message = said;
      const isLast = last?.test(text);
      if (!said && !isLast && !takes.test(text)) return "ended";
      lines.push(text);
      return isLast ? "completed" : "took";
    },
    finding() {
      const { text } = lines;
      return { level, message, exception: text === first ? "" : text, pid };
    },
  };
}
