/** The lines of one stream, told apart by process and assembled to findings. */

import type { Block, Finding, LineContext } from "./block.ts";
import { openStack, openToldStack } from "./formats/javascript.ts";
import { bodyOf, type LogRecord, parseLog } from "./levels.ts";
import { openNative, openReport } from "./formats/natives.ts";
import { openGoPanic, openRustPanic } from "./formats/panics.ts";
import { splitPrefix } from "./prefix.ts";
import { NOTE_PAUSE_NS, openSyntaxError, openTraceback, openWarning } from "./formats/python.ts";

/** Lines of other processes after which an open block is taken to have ended. */
const MAX_FOREIGN_LINES = 1_000;

/** Processes whose blocks are open at a time; the oldest goes first. */
const MAX_OPEN = 256;

interface Open {
  block: Block;
  /** The log record that opened it, where one did. */
  record?: LogRecord;
  pid?: string;
  log_ns: bigint;
  /** When it last took a line. */
  touched_ns: bigint;
  foreign: number;
  keys: string[];
}

/** Assembles lines of one stream to findings, which it hands to `found` as they end. */
export class Assembler {
  #open = new Map<string, Open>();
  #found: (finding: Finding, log_ns: bigint) => void;

  /** An assembler that hands on what it finds, with the time of its first line. */
  constructor(found: (finding: Finding, log_ns: bigint) => void) {
    this.#found = found;
  }

  /** Whether a block is open, so that the next lines may belong to it. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Takes the next line. */
  line(line: string, time_ns: bigint): void {
    const { mark, pid, text } = splitPrefix(line);
    const record = parseLog(text);
    const body = record && bodyOf(text, record);
    // The record may be one more line of a traceback that a logger writes record by record.
    const own = record?.key ? this.#open.get(`${mark}\0${record.key}`) : undefined;
    const taken = own && body !== null &&
        this.#offer(own, body, { isLog: false, time_ns, opens: () => true }) ||
      this.#offer(this.#open.get(`${mark}\0`), text, {
        isLog: record !== null,
        time_ns,
        opens: () => (openTraceback(text) ?? this.#openOther(text, record)) !== undefined,
      });
    if (!taken) this.#start({ mark, pid, text, record, body, time_ns });
    this.#age();
  }

  /** Reports blocks that have got no line since `before_ns`; all of them when it is not given. */
  close(before_ns?: bigint): void {
    for (const open of new Set(this.#open.values())) {
      if (before_ns === undefined || open.touched_ns <= before_ns) this.#end(open);
    }
  }

  /** Whether the open block took the line. */
  #offer(open: Open | undefined, text: string, { time_ns, ...line }: Offered): boolean {
    if (!open) return false;
    const answer = open.block.take(text, { ...line, pause_ns: time_ns - open.touched_ns });
    if (answer === "took" || answer === "completed") {
      open.touched_ns = time_ns;
      open.foreign = 0;
    }
    if (answer === "completed") this.#end(open);
    // A record may announce the traceback that starts here: then it goes into it.
    else if (answer === "ended") this.#announced(open, text) || this.#end(open);
    return answer === "took" || answer === "completed";
  }

  /**
   * Whether the block is a log record that a traceback on this line belongs to: a warning just before
   * an exception is another matter.
   */
  #announced(open: Open, text: string): boolean {
    return open.record?.level === "error" && openTraceback(text) !== undefined &&
      /^(?:future: <.*)?$/.test(open.block.finding()?.exception ?? "-");
  }

  #start(line: Start): void {
    const { mark, pid, text, record, body, time_ns } = line;
    const announcing = this.#open.get(`${mark}\0`);
    const before = announcing?.record?.level === "error" &&
        (!record || record.key === announcing.record.key)
      ? announcing
      : undefined;
    const traceback = openTraceback(record ? body! : text, before?.block.finding() ?? undefined);
    const keys = [`${mark}\0`];
    if (traceback) {
      if (record?.key) keys.push(`${mark}\0${record.key}`);
      if (before) this.#forget(before);
      else if (announcing?.record) this.#end(announcing);
      this.#add(
        {
          block: traceback,
          pid: before?.pid ?? record?.pid ?? pid,
          log_ns: before?.log_ns ?? time_ns,
        },
        keys,
        time_ns,
      );
      return;
    }
    const block = this.#openOther(text, record);
    if (!block) return;
    this.#add(
      { block, record: record ?? undefined, pid: record?.pid ?? pid, log_ns: time_ns },
      keys,
      time_ns,
    );
  }

  #openOther(text: string, record: LogRecord | null): Block | undefined {
    const block = openReport(text) ?? openGoPanic(text) ?? openRustPanic(text) ??
      openSyntaxError(text) ?? openWarning(text) ?? openStack(text);
    if (block) return block;
    if (record && record.level !== "other") return openRecord(record, record.level);
    if (record) return record.key ? undefined : openNative(record.message);
    return openNative(text) ?? openToldStack(text);
  }

  #add(
    open: Pick<Open, "block" | "record" | "pid" | "log_ns">,
    keys: string[],
    time_ns: bigint,
  ): void {
    const taken = keys.filter((key) => !this.#open.has(key) || !key.endsWith("\0"));
    // What is open there has let the line pass and goes on after it.
    if (taken.length === 0) return this.#tell(open);
    for (const key of taken) {
      const there = this.#open.get(key);
      if (there) this.#end(there);
    }
    const added = { ...open, keys: taken, touched_ns: time_ns, foreign: 0 };
    for (const key of taken) this.#open.set(key, added);
    if (this.#open.size > MAX_OPEN) this.#end(this.#open.values().next().value!);
  }

  #age(): void {
    for (const open of this.#open.values()) {
      if (++open.foreign > MAX_FOREIGN_LINES) this.#end(open);
    }
  }

  #forget(open: Open): void {
    for (const key of open.keys) this.#open.delete(key);
  }

  #end(open: Open): void {
    this.#forget(open);
    this.#tell(open);
  }

  #tell(open: Pick<Open, "block" | "pid" | "log_ns">): void {
    const finding = open.block.finding();
    if (finding) this.#found({ ...finding, pid: finding.pid ?? open.pid }, open.log_ns);
  }
}

interface Offered extends Omit<LineContext, "pause_ns"> {
  time_ns: bigint;
}

interface Start {
  mark: string;
  pid: string | undefined;
  text: string;
  record: LogRecord | null;
  body: string | null;
  time_ns: bigint;
}

/** Lines of stacks, and what asyncio says of the task before one. */
const STACK_LINE =
  /^(?:\s+at |\t|Caused by: |\s+\.\.\. \d+ more|\d+ +0x[0-9a-f]+ |future: <|Stack \(most recent call last\):$)/;

/** A record of its own: what is clearly a stack goes on after it, and what is indented and comes at once. */
function openRecord(record: LogRecord, level: Finding["level"]): Block {
  const { message, exception = "", pid } = record;
  const more: string[] = [];
  return {
    take(text, { isLog, pause_ns, opens }) {
      const goesOn = STACK_LINE.test(text) ||
        /^\s+\S/.test(text) && pause_ns <= NOTE_PAUSE_NS && !opens();
      if (isLog || !goesOn || more.length >= 1_000) return "ended";
      more.push(text);
      return "took";
    },
    finding: () => ({
      level,
      message,
      exception: [exception, ...more].filter(Boolean).join("\n"),
      pid,
    }),
  };
}
