/** Blocks: lines that belong together and make one finding. A recogniser opens one on its first line. */

import type { ErrorEntry, Tags } from "@service/core";

/** A warning or an error found in the console. */
export interface Finding {
  level: ErrorEntry["level"];
  message: string;
  /** Traceback, stack or report; empty when there is none. */
  exception: string;
  /** Process that wrote it, if the text names it. */
  pid?: string;
  /** Ranks of that process, as tags. */
  ranks?: Tags;
}

/** Answer to a line: took it, took it as the last, left it to others but goes on, or has ended before it. */
export type Answer = "took" | "completed" | "passed" | "ended";

/** Properties of a line besides its text. */
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
  /** The finding of the lines so far; `null` if they are not a finding. */
  finding(): Finding | null;
  /** Further findings, of lines that were written at the same time. */
  others?(): Finding[];
}

/** Most characters of one block that are kept; further ones are only counted. */
const MAX_BLOCK_LENGTH = 65_536;

/** Lines up to a limit. */
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

  /** Number of lines kept. */
  get count(): number {
    return this.#lines.length;
  }

  /** The last line that is kept; empty if there is none. */
  get last(): string {
    return this.#lines.at(-1) ?? "";
  }

  /** The lines as one text, without blank lines at its end. */
  get text(): string {
    const text = this.#lines.join("\n").trimEnd();
    return this.#more > 0 ? `${text}\n… (${this.#more} more characters)` : text;
  }
}

/** A block described by patterns of its lines. */
export interface SimpleBlockOptions {
  level?: Finding["level"];
  message: string;
  /** The line that opens it. */
  first: string;
  pid?: string;
  /** Lines that belong to it. */
  takes: RegExp;
  /** The last line. */
  last?: RegExp;
  /** A later line whose first group is the message. */
  laterMessage?: RegExp;
}

/** A block of matching lines; its exception is all of them if there are several. */
export function simpleBlock(options: SimpleBlockOptions): Block {
  const { level = "error", first, pid, takes, last, laterMessage } = options;
  let message = options.message;
  const lines = new Lines(first);
  return {
    take(text) {
      const later = laterMessage?.exec(text)?.[1];
      if (later) message = later;
      const isLast = last?.test(text);
      if (!later && !isLast && !takes.test(text)) return "ended";
      lines.push(text);
      return isLast ? "completed" : "took";
    },
    finding() {
      const { text } = lines;
      return { level, message, exception: text === first ? "" : text, pid };
    },
  };
}
