/** The assembler: groups the lines of one stream by process, and into findings. */

import type { Tags } from "@service/core";
import type { Block, Finding, LineContext } from "./block.ts";
import { openTraceback } from "./formats/tracebacks.ts";
import { bodyOf, type LogRecord, parseLog } from "./levels.ts";
import { type Prefixed, Prefixes } from "./prefix.ts";
import { openBlock } from "./recognise.ts";

/** Lines of other processes after which an open block counts as ended. */
const MAX_FOREIGN_LINES = 1_000;

/** Most keys of open blocks; beyond it the oldest block is ended. */
const MAX_OPEN = 256;

/** A line of the stream, read as far as its own text goes. */
interface Line {
  text: string;
  time_ns: bigint;
  /** The log record that the line is, if any. */
  record: LogRecord | null;
  /** The text without the header of a log record. */
  body: string;
  /** Key of the process that wrote it. */
  process: string;
  /** Key of the logger that wrote it, if its record has one. */
  logger: string | undefined;
  pid: string | undefined;
  ranks: Tags;
}

/** A block that may take further lines. */
interface OpenBlock {
  block: Block;
  /** The log record that opened it, if any. */
  record: LogRecord | null;
  pid: string | undefined;
  ranks: Tags;
  /** Time of its first line. */
  log_ns: bigint;
  /** Time of its last line. */
  touched_ns: bigint;
  foreignLines: number;
  keys: string[];
}

/** Assembles lines of one stream to findings. */
export class Assembler {
  /** Blocks that take lines, by the process or the logger that writes them. */
  #open = new Map<string, OpenBlock>();
  #report: (finding: Finding, log_ns: bigint) => void;
  #prefixes = new Prefixes();

  /** An assembler that reports each finding with the time of its first line. */
  constructor(report: (finding: Finding, log_ns: bigint) => void) {
    this.#report = report;
  }

  /** Whether a block is open, so that the next lines may belong to it. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Takes the next line. */
  line(text: string, time_ns: bigint): void {
    const line = readLine(this.#prefixes.split(text), time_ns);
    if (!this.#continueLogger(line) && !this.#continueProcess(line)) this.#start(line);
    this.#age();
  }

  /** Ends blocks that have got no line since `before_ns`; all of them when it is not given. */
  close(before_ns?: bigint): void {
    for (const open of new Set(this.#open.values())) {
      if (before_ns === undefined || open.touched_ns <= before_ns) this.#end(open);
    }
  }

  /** Whether the line is a record that continues a traceback which its logger writes record by record. */
  #continueLogger({ logger, body, time_ns }: Line): boolean {
    const open = logger === undefined ? undefined : this.#open.get(logger);
    return open !== undefined &&
      this.#offer(open, body, { isLog: false, time_ns, opens: () => true });
  }

  /** Whether the line continues the open block of its process. */
  #continueProcess({ process, text, record, time_ns }: Line): boolean {
    const open = this.#open.get(process);
    return open !== undefined && this.#offer(open, text, {
      isLog: record !== null,
      time_ns,
      opens: () => (openTraceback(text) ?? openBlock(text, record)) !== undefined,
    });
  }

  /** Whether the open block took the line. */
  #offer(open: OpenBlock, text: string, { time_ns, ...context }: Offer): boolean {
    switch (open.block.take(text, { ...context, pause_ns: time_ns - open.touched_ns })) {
      case "took":
        open.touched_ns = time_ns;
        open.foreignLines = 0;
        return true;
      case "completed":
        this.#end(open);
        return true;
      case "passed":
        return false;
      case "ended":
        // Stays open where the traceback on this line is to take it over.
        if (!announces(open, text)) this.#end(open);
        return false;
    }
  }

  /** Opens the block that starts on the line, if there is one. */
  #start(line: Line): void {
    const { text, record, process } = line;
    const before = this.#open.get(process);
    const announcement = before && mayAnnounce(before, record) ? before : undefined;
    const traceback = openTraceback(line.body, announcement?.block.finding() ?? undefined);
    if (!traceback) {
      const block = openBlock(text, record);
      if (block) this.#add(openedBy(line, block, record), process);
      return;
    }
    const open = openedBy(line, traceback);
    if (announcement) {
      open.pid = announcement.pid ?? open.pid;
      open.log_ns = announcement.log_ns;
      this.#remove(announcement);
    } else if (before?.record) this.#end(before);
    // The logger may write the rest of the traceback record by record.
    this.#add(open, process, line.logger);
  }

  #add(open: OpenBlock, process: string, logger?: string): void {
    // A block that has let the line pass stays open for its process.
    if (!this.#open.has(process)) open.keys.push(process);
    if (logger !== undefined) {
      const before = this.#open.get(logger);
      if (before) this.#end(before);
      open.keys.push(logger);
    }
    if (open.keys.length === 0) return this.#reportFinding(open);
    for (const key of open.keys) this.#open.set(key, open);
    if (this.#open.size > MAX_OPEN) this.#end(this.#open.values().next().value!);
  }

  #age(): void {
    for (const open of this.#open.values()) {
      if (++open.foreignLines > MAX_FOREIGN_LINES) this.#end(open);
    }
  }

  #end(open: OpenBlock): void {
    this.#remove(open);
    this.#reportFinding(open);
  }

  #remove(open: OpenBlock): void {
    for (const key of open.keys) this.#open.delete(key);
  }

  #reportFinding({ block, pid, ranks, log_ns }: OpenBlock): void {
    for (const finding of [block.finding(), ...block.others?.() ?? []]) {
      if (finding) this.#report({ ...finding, pid: finding.pid ?? pid, ranks }, log_ns);
    }
  }
}

interface Offer extends Omit<LineContext, "pause_ns"> {
  time_ns: bigint;
}

function readLine({ mark, pid, ranks, text }: Prefixed, time_ns: bigint): Line {
  const record = parseLog(text);
  const process = `${mark}\0`;
  return {
    text,
    time_ns,
    record,
    body: record ? bodyOf(text, record) : text,
    process,
    logger: record?.key ? process + record.key : undefined,
    pid: record?.pid ?? pid,
    ranks,
  };
}

function openedBy(
  { pid, ranks, time_ns }: Line,
  block: Block,
  record: LogRecord | null = null,
): OpenBlock {
  return {
    block,
    record,
    pid,
    ranks,
    log_ns: time_ns,
    touched_ns: time_ns,
    foreignLines: 0,
    keys: [],
  };
}

/** Whether a traceback that starts on this line, of this record, may belong to the open block. */
function mayAnnounce({ record: before }: OpenBlock, record: LogRecord | null): boolean {
  return before?.level === "error" && (!record || record.key === before.key);
}

/**
 * Whether the traceback that starts on this line belongs to the block: to an error record that nothing
 * has followed yet. A warning just before an exception is another matter.
 */
function announces({ record, block }: OpenBlock, text: string): boolean {
  return record?.level === "error" && openTraceback(text) !== undefined &&
    /^(?:future: <.*)?$/.test(block.finding()?.exception ?? "-");
}
