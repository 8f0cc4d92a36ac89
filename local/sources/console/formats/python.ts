/** Python: tracebacks with their chains and groups, and the warnings module. */

import {
  type Answer,
  type Block,
  type Finding,
  type LineContext,
  Lines,
  simpleBlock,
} from "../block.ts";

/** The first line of a traceback, with what stands before it on the line. */
export const TRACEBACK =
  /^(?<before>.*?)(?<start>(?: {2}\+ Exception Group )?Traceback \(most recent call last\):)$/;
const PREAMBLE =
  /^(?:Exception in thread .*:|Exception ignored in.*|Process \S*Process-\d+(?::\d+)*:|Task exception was never retrieved)$/;
const CHAIN =
  /^(?:During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):$/;
const BOX = /^\s+[|+]/;
const BOX_END = /^ {4}\+-+$/;
const BOXED_EXCEPTION = /^ {2}\| ([^\s|+-].*)$/;
const INDENTED = /^\s/;
const RAISED = /^(?:(?:[A-Za-z_]\w*|<locals>)\.)*[A-Za-z_]\w*(?::(?: .*)?)?$/;

/** Most lines after an exception that count as its notes. */
const MAX_NOTES = 100;

/** Longest pause before a line that has no mark of its own, such as a note. */
export const NOTE_PAUSE_NS = 1_000_000n;

/** Further lines of PyTorch's messages. */
export const CUDA_ADVICE =
  /^(?:CUDA kernel errors might|HIP kernel errors might|For debugging consider passing|Compile with `TORCH_USE|Device-side assertion|Search for `(?:cuda|hip)|Exception raised from |frame #\d+:|Last error:|Cuda failure|ncclUnhandled|ncclInternal)/;

/** Whether the line announces a traceback, as the one of a thread or a process. */
export function isPreamble(text: string): boolean {
  return PREAMBLE.test(text);
}

/** Whether a traceback starts on the line, with nothing before it. */
export function isTracebackStart(text: string): boolean {
  return text.startsWith("Traceback (") && TRACEBACK.test(text);
}

function error(message: string): Finding {
  return { level: "error", message, exception: "" };
}

type State = "announced" | "frames" | "boxes" | "raised";

/** One traceback, with its chain and its notes. */
export class Traceback implements Block {
  #lines = new Lines();
  #state: State = "announced";
  /** The exception's line, once it is there. */
  #raised = "";
  /** Blank lines that are kept only if the block continues. */
  #blanks = 0;
  #notes = 0;
  /** Whether the last line announced another traceback. */
  #chained = false;
  /** Whether the box of a group has its last line. */
  #closed = false;
  /** The log record that announced the traceback. */
  #before: Finding | undefined;

  /** A traceback that starts with a line; `before` is the log record that announced it. */
  constructor(first: string, before?: Finding) {
    this.#before = before;
    if (PREAMBLE.test(first)) this.#lines.push(first);
    else this.#begin(first);
  }

  /** Whether its exception has been written. */
  get hasEnded(): boolean {
    return this.#state === "raised";
  }

  get mayEnd(): boolean {
    return this.hasEnded;
  }

  /** How well the line fits as the next one, from 0 (not at all) to 9. */
  fit(text: string, context: LineContext): number {
    const starts = TRACEBACK.test(text);
    if (context.isLog) return 0;
    switch (this.#state) {
      case "announced":
        return starts || text.startsWith("future: <") ? 9 : 0;
      case "frames":
        return starts ? 0 : fitOfFrame(text, this.#lines.last);
      case "boxes":
        return BOX.test(text) ? 3 : 0;
      case "raised":
        if (starts) return this.#chained ? 9 : 0;
        if (text === "") return this.#blanks > 1 ? 0 : 1;
        if (CHAIN.test(text)) return this.#blanks > 0 ? 3 : 1;
        if (isPreamble(text) || INDENTED.test(text) && FRAME.test(text)) return 0;
        return CUDA_ADVICE.test(text) ? 2 : 0.5;
    }
  }

  take(text: string, context: LineContext): Answer {
    if (context.isLog) {
      return this.#state === "raised" || this.#state === "announced" ? "ended" : "passed";
    }
    switch (this.#state) {
      case "announced":
        if (text.startsWith("future: <")) this.#lines.push(text);
        else if (!TRACEBACK.test(text)) return "ended";
        else this.#begin(text);
        return "took";
      case "frames":
        return this.#frame(text);
      case "boxes":
        if (!BOX.test(text)) {
          // Before Python 3.13 further lines of a message are outside the box.
          if (!this.#closed && text !== "" && this.#isNote(text, context)) {
            this.#lines.push(text);
            return "took";
          }
          this.#state = "raised";
          // The notes of a group are in its box.
          this.#notes = MAX_NOTES;
          return this.#afterwards(text, context);
        }
        this.#raised ||= BOXED_EXCEPTION.exec(text)?.[1] ?? "";
        this.#lines.push(text);
        this.#closed = BOX_END.test(text);
        return "took";
      case "raised":
        return this.#afterwards(text, context);
    }
  }

  finding(): Finding {
    const before = this.#before;
    const traceback = this.#lines.text;
    const exception = before?.exception ? `${before.exception}\n${traceback}` : traceback;
    const message = before?.message || this.#raised || exception.split("\n").at(-1)!.trim();
    return { level: before?.level ?? "error", message, exception, pid: before?.pid };
  }

  #begin(start: string): void {
    this.#lines.push(start);
    this.#closed = false;
    this.#notes = 0;
    this.#state = start.includes("Exception Group") ? "boxes" : "frames";
    this.#raised = "";
  }

  #frame(text: string): Answer {
    if (INDENTED.test(text) || text.startsWith("> File ")) {
      this.#lines.push(text);
      return "took";
    }
    if (text === "") return "passed";
    if (TRACEBACK.test(text)) return "ended";
    if (!RAISED.test(text)) return "passed";
    this.#raised = text;
    this.#lines.push(text);
    this.#state = "raised";
    this.#notes = 0;
    return "took";
  }

  #afterwards(text: string, context: LineContext): Answer {
    if (text === "") {
      this.#blanks++;
      return this.#blanks > 2 ? "ended" : "took";
    }
    const chained = CHAIN.test(text);
    const opens = /^(?: {2}\+ Exception Group )?Traceback \(/.test(text) && this.#chained;
    if (!chained && !opens && !CUDA_ADVICE.test(text) && !this.#isNote(text, context)) {
      return "ended";
    }
    for (; this.#blanks > 0; this.#blanks--) this.#lines.push("");
    this.#chained = chained;
    if (opens) this.#begin(text);
    else this.#lines.push(text);
    return "took";
  }

  /**
   * Whether the line is a note or a further line of the exception's message. They have no mark: Python
   * writes them at once, and they match nothing else.
   */
  #isNote(text: string, { pause_ns, opens }: LineContext): boolean {
    if (this.#blanks > 0 || this.#notes >= MAX_NOTES || pause_ns > NOTE_PAUSE_NS) return false;
    if (PREAMBLE.test(text) || opens()) return false;
    this.#notes++;
    return true;
  }
}

/** A traceback in a box, as rich draws it. */
export function openBoxedTraceback(text: string): Block | undefined {
  if (!/^╭─+ Traceback \(most recent call last\) ─+╮$/.test(text)) return undefined;
  return simpleBlock({
    message: "Traceback (most recent call last)",
    first: text,
    takes: /^[│╰]/,
    last: RAISED,
    laterMessage: /^((?:\w+\.)*\w+(?::(?: .*)?)?)$/,
  });
}

const FRAME = /^ {2}File "/;
const CODE = /^ {4}\S/;
const CARETS = /^ {4,}[~^ ]*[~^]$/;

/** Frames that have none before them. */
const OUTERMOST = /, in (?:<module>|_bootstrap|_bootstrap_inner|_run_module_as_main)$/;

/** How well a line follows the last line of frames. */
function fitOfFrame(text: string, last: string): number {
  const isHeader = last.startsWith("Traceback (");
  if (FRAME.test(text)) {
    if (isHeader) return OUTERMOST.test(text) ? 5 : 3;
    const callee = /, in (\w+)$/.exec(text)?.[1];
    if (callee !== undefined && last.includes(`${callee}(`)) return 5;
    return FRAME.test(last) || /^\s+raise\b/.test(last) || OUTERMOST.test(text) ? 0.5 : 1.5;
  }
  if (CARETS.test(text)) return CODE.test(last) && text.length <= last.length ? 4 : 0;
  if (CODE.test(text)) return FRAME.test(last) ? 4 : 0.5;
  if (INDENTED.test(text) || text.startsWith("> File ")) return 0.5;
  if (!RAISED.test(text)) return 0;
  return isHeader ? 0.5 : FRAME.test(last) ? 1 : /^\s+raise\b|^ +[~^ ]+$/.test(last) ? 4 : 3;
}

/** A report of a syntax error in the script itself, which has no traceback. */
export function openSyntaxError(text: string): Block | undefined {
  if (!/^ {2}File ".+", line \d+$/.test(text)) return undefined;
  const lines = new Lines(text);
  let message: string | undefined;
  return {
    take(text, { isLog }) {
      if (isLog || message !== undefined || lines.count > 3) return "ended";
      const isMessage = /^(?:Syntax|Indentation|Tab)Error: .*$/.test(text);
      if (!isMessage && !INDENTED.test(text)) return "ended";
      if (isMessage) message = text;
      lines.push(text);
      return isMessage ? "completed" : "took";
    },
    finding: () => message === undefined ? null : { ...error(message), exception: lines.text },
  };
}

/** A line of the warnings module, whose source line follows. */
export function openWarning(text: string): Block | undefined {
  const message = /^(?:\S.*:\d+: )?([A-Z]\w+Warning: .*)$/.exec(text)?.[1];
  if (message === undefined) return undefined;
  return simpleBlock({
    level: "warning",
    message,
    first: text,
    takes: /^(?!.)./,
    last: /^ {2}\S/,
  });
}
