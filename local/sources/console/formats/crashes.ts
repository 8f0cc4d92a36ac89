/** Crashes: what programs of other languages than Python print when they die, also of several processes at once. */

import { type Answer, type Block, type Finding, type LineContext, Lines } from "../block.ts";
import { isReading } from "../readings.ts";
import { AtOnce } from "./at_once.ts";
import { type Language, OUT_OF_ORDER, type Stack } from "./dealer.ts";
import { CUDA_ADVICE } from "./python.ts";

/** What a language prints of a crash. */
interface CrashFormat {
  level?: Finding["level"];
  /** The first line; groups `message`, and `pid` if it has one. */
  opens: RegExp;
  /** Lines that belong to it. */
  takes: RegExp;
  /** A further line whose first group is the message. */
  message?: RegExp;
  /** The last line. */
  last?: RegExp;
  /** Lines with which it may end, if it has no last one. */
  mayEnd: RegExp;
  /** Lines between crashes. */
  ignores?: RegExp;
  /** How lines follow each other: the first of these that a line matches says which lines it may follow. */
  order?: readonly (readonly [line: RegExp, after: RegExp])[];
  /** Where another process began its crash within a line. */
  header: RegExp;
  /** Whether the header is written apart from what follows it on the line. */
  hasWholePieces?: boolean;
}

const NOTHING = /(?!)/;

/** A line of a Go stack: a goroutine, a call, a place, a signal, or a register. */
const GO_STACK =
  /^(?:\t|$|\[signal |goroutine \d+|created by |runtime: |\[recovered|fatal error: |[\w./*()[\]{}$·~,-]+\(.*\)$|[a-z]\w{1,5} +0x[0-9a-f]+$|\.\.\.additional frames)/;
const GO_CALL = /^(?:created by |[\w./*()[\]{}$·~,-]+\(.*\)$)/;

const FORMATS: readonly CrashFormat[] = [
  {
    opens: /^(?:Exception in thread "[^"]*" )(?<message>.*)$/,
    message: /^((?:[\w$]+\.)+[\w$]+(?:: .*)?)$/,
    takes: /^(?:\s+at |\s+\.\.\. |Caused by: |\s+Suppressed: )/,
    order: [
      [/^\s+at /, /^(?!\s+\.\.\. |Exception in thread "[^"]*" $)/],
      [/^Caused by: /, /^\s+(?:at|\.\.\.) /],
      [/^\s+\.\.\. /, /^(?:\s+at |Caused by: )/],
    ],
    mayEnd: /^\s/,
    ignores: /^$/,
    header: /Exception in thread "[^"]*" |(?<=Exception in thread "[^"]*" )(?=\s|Caused by: )/g,
    hasWholePieces: true,
  },
  {
    opens:
      /^(?<message>terminate called (?:after throwing|without|recursively).*|(?:pure|deleted) virtual method called|libc\+\+abi: terminating.*)$/,
    takes: new RegExp(String.raw`^\s+\S|${CUDA_ADVICE.source}|^$`),
    message: /^ {2}what\(\): +(.*)$/,
    mayEnd: /^(?: {2}what\(\)|terminate called (?:without|recursively)|\w+ virtual method)/,
    header: /terminate called /g,
  },
  {
    opens: /^==(?<pid>\d+)==\s*ERROR: (?<message>\w+Sanitizer: .*)$/,
    takes:
      /^(?:\s|$|0x|READ |WRITE |freed |previously |Thread |Address |SUMMARY: |HINT: |Hint: |Shadow |=>|Direct |Indirect |allocated |#\d|==\d+==|\w+Sanitizer|[\w ]+:$)/,
    last: /^==\d+==ABORTING|^SUMMARY: .* leaked in/,
    mayEnd: NOTHING,
    ignores: /^={10,}$/,
    header: /==\d+==\s*ERROR: /g,
  },
  {
    level: "warning",
    opens: /^WARNING: (?<message>ThreadSanitizer: .*?) \(pid=(?<pid>\d+)\)$/,
    takes: /^(?:\s|$|SUMMARY: )/,
    last: /^={10,}$/,
    mayEnd: NOTHING,
    header: /WARNING: ThreadSanitizer: /g,
  },
  {
    opens:
      /^(?<message>panic: .*|unexpected fault address .*|fatal error: (?:all goroutines|concurrent map|runtime|unexpected signal|stack overflow|out of memory).*|SIG[A-Z]+: .*)$/,
    takes: GO_STACK,
    last: /^exit status \d+$/,
    mayEnd: /^\t/,
    order: [
      [/^goroutine /, /^(?:$|\[signal |runtime: |\t)/],
      [/^\t/, GO_CALL],
      [GO_CALL, /^(?:goroutine |\t|$)/],
    ],
    header: /panic: |fatal error: /g,
  },
  {
    // The message is on the next line since Rust 1.73.
    opens: /^thread '[^']*'(?: \(\d+\))? panicked at (?:'(?<message>.*)', )?.*$/,
    takes: /^(?:stack backtrace:|\s+\S|note: )/,
    message: /^(?!stack backtrace:|note: |\s)(.+)$/,
    order: [
      [/^stack backtrace:/, /^(?!stack|note|\s)/],
      [/^ +at /, /^ +\d+: /],
      [/^note: /, /^(?!note)/],
    ],
    mayEnd: /^(?!stack backtrace:|thread '.*:\d+:$)/,
    ignores: /^$/,
    header: /thread '[^']*'(?: \(\d+\))? panicked at /g,
  },
];

const HEX = /0x[\da-f]{9,}/g;

/** What addresses of one process have in common if they are near. */
function near(address: string): string {
  return address.slice(0, 8);
}

const FRAME_NUMBER = /^ +#?(\d+):? /;

/** One crash. */
class Crash implements Stack {
  #format: CrashFormat;
  #message: string;
  #hasMessage: boolean;
  #pid: string | undefined;
  #lines: Lines;
  #frame = -1;
  #addresses = new Set<string>();
  #isOver = false;

  constructor(first: string, format: CrashFormat) {
    const { message, pid } = format.opens.exec(first)!.groups!;
    this.#format = format;
    this.#message = message || first;
    this.#hasMessage = Boolean(message) && !/^terminate called after/.test(message!);
    this.#pid = pid;
    this.#lines = new Lines(first);
    this.#learn(first);
  }

  get hasEnded(): boolean {
    return this.#isOver;
  }

  get mayEnd(): boolean {
    return this.#isOver ? this.#frame >= 0 : this.#format.mayEnd.test(this.#lines.last);
  }

  fit(text: string, { isLog }: LineContext): number {
    const { takes, message, last, order = [] } = this.#format;
    if (isLog || this.#isOver || this.#format.opens.test(text)) return 0;
    const addresses = text.match(HEX) ?? [];
    if (addresses.some((address) => this.#addresses.has(address))) return 9;
    if (addresses.some((address) => this.#addresses.has(near(address)))) return 6;
    if (last?.test(text)) return text.includes(this.#pid ?? "") ? 9 : 0;
    if (!this.#hasMessage && message?.test(text)) return 5;
    if (!takes.test(text)) return 0;
    const number = FRAME_NUMBER.exec(text)?.[1];
    if (number !== undefined) return this.#fitOfFrame(Number(number));
    const rule = order.find(([line]) => line.test(text));
    return !rule || rule[1].test(this.#lines.last) ? 1 : OUT_OF_ORDER;
  }

  take(text: string, { isLog }: LineContext): Answer {
    const { takes, message, last, ignores } = this.#format;
    if (this.#isOver || isLog || this.#format.opens.test(text)) return "ended";
    if (ignores?.test(text)) return "passed";
    const said = this.#hasMessage ? undefined : message?.exec(text)?.[1];
    const isLast = last?.test(text) ?? false;
    if (!said && !isLast && !takes.test(text)) return "ended";
    if (said) this.#message = said;
    this.#hasMessage ||= Boolean(said);
    this.#lines.push(text);
    this.#learn(text);
    this.#isOver = isLast;
    return isLast ? "completed" : "took";
  }

  finding(): Finding {
    const { level = "error" } = this.#format;
    const exception = this.#lines.count > 1 ? this.#lines.text : "";
    return { level, message: this.#message, exception, pid: this.#pid };
  }

  /** Frames are numbered from 0 on, in each part of the report. */
  #fitOfFrame(number: number): number {
    const isFirst = number === 0 && FRAME_NUMBER.exec(this.#lines.last) === null;
    return number === this.#frame + 1 ? 4 : isFirst ? 2 : OUT_OF_ORDER;
  }

  #learn(text: string): void {
    const number = FRAME_NUMBER.exec(text)?.[1];
    if (number !== undefined) this.#frame = Number(number);
    for (const address of text.match(HEX) ?? []) {
      this.#addresses.add(address).add(near(address));
    }
  }
}

const LANGUAGES = new Map(FORMATS.map((format): [CrashFormat, Language] => [format, {
  start: (text) => format.opens.test(text) ? new Crash(text, format) : undefined,
  pieces(text) {
    const starts = [...text.matchAll(format.header)].map(({ index }) => index);
    if (starts.length === 0 || starts.length === 1 && starts[0] === 0) return [];
    const cuts = [0, ...starts];
    return cuts.map((at, i) => text.slice(at, cuts[i + 1])).filter(Boolean);
  },
  hasWholePieces: format.hasWholePieces ?? false,
  isMessageLast: false,
  kind: (text) =>
    // All numbers but those of lines.
    text.replace(/0x[\da-f]+|(?<![:.\w])\d+/g, "0").replace(
      /(?<![\w$.])((?:[\w$]+\.)+[\w$]+): .*$/,
      "$1:",
    ),
}]));

/** The crash that starts on this line, which may look like a log record. */
export function openCrash(text: string): Block | undefined {
  const format = FORMATS.find(({ opens }) => opens.test(text));
  if (!format || isReading(text.replace(/^panic: /, ""))) return undefined;
  const language = LANGUAGES.get(format)!;
  const [first = text] = language.pieces(text);
  return new AtOnce(text, () => new Crash(first, format), language);
}
