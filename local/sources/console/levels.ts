/** Log records: one table of the formats in which a line states its level. */

import type { Finding } from "./block.ts";
import { parseJsonLog } from "./json.ts";

/** A line that a logger wrote. */
export interface LogRecord {
  /** Severity; `other` for information, debugging, and records that state none. */
  level: Finding["level"] | "other";
  message: string;
  /** What the record brings along: the `exc_info` of a JSON record. */
  exception?: string;
  /** What the header says besides the time: tells loggers apart. */
  key: string;
  pid?: string;
}

const LEVEL =
  "TRACE|DEBUG|INFO|INF|DBG|NOTICE|WARNING|WARN|WRN|ERROR|ERR|CRITICAL|CRIT|FATAL|SEVERE|PANIC|ALERT|EMERG";
const CLOCK = String.raw`\d{1,2}:\d\d:\d\d(?:[.,]\d+)?`;
const TIME = String
  .raw`(?:\d{4}[-/]\d\d[-/]\d\d[T ]${CLOCK}(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?|\d\d/\d\d/\d{4}-${CLOCK}|\d\d[-/]\d\d ${CLOCK}|${CLOCK})`;

/** Formats in the order they are tried; groups `level`, `message`, `key`, `pid`, and `program`, which is kept. */
const FORMATS: RegExp[] = [
  // glog, abseil, PyTorch: `E1121 01:02:03.123456 1234 file.cc:12] …`, `[W1121 01:02:03.1 file.cpp:12] …`.
  /^\[?(?<level>[IWEF])\d{4} [\d:.]+ +(?:\d+ +)?(?<key>[\w./-]+(?::\d+| \S+:\d+))\]\s*(?<message>.*)$/,
  // TensorFlow: `2026-11-21 01:02:03.123456: E path/file.cc:12] …`.
  new RegExp(String.raw`^${TIME}: (?<level>[IWEF]) (?<key>\S+:\d+)\] (?<message>.*)$`),
  // NCCL: `host:123:456 [0] NCCL WARN …`, with a time or a place before its name since 2.24.
  new RegExp(
    String
      .raw`^(?:\[${TIME}\] )?[\w.-]+:(?<pid>\d+):\d+ (?<key>\[\d+\]) (?:\S+:\d+ )?NCCL (?<level>WARN|INFO|ERROR|TRACE) (?<message>.*)$`,
  ),
  // TensorRT-LLM: `[11/21/2026-01:02:03] [TRT-LLM] [E] …`, `[TensorRT-LLM][ERROR] …`.
  new RegExp(
    String
      .raw`^(?:\[${TIME}\] ?)?(?<key>\[(?:TRT-LLM|TRT|TensorRT-LLM)\] ?(?:\[RANK \d+\] ?)?)\[(?<level>[A-Z]+)\] ?(?:\[TensorRT-LLM\]\[[A-Z]+\] ?)?(?<message>.*)$`,
  ),
  // llama.cpp: `0.01.234.567 E …`.
  /^\d+\.\d\d\.\d{3}\.\d{3} (?<level>[DIWE]) (?<message>.*)$/,
  // vLLM: `ERROR 11-21 01:02:03 [core.py:123] …`; and any level followed by a time.
  new RegExp(
    String
      .raw`^(?<level>${LEVEL}):?\s+\[?${TIME}\]?\s*(?<key>\[[^\]]+:\d+\])?\s*[-|:]?\s*(?<message>.*)$`,
  ),
  // Python's `LEVEL:name:message`.
  new RegExp(String.raw`^(?<level>${LEVEL}):(?<key>[\w.$<>/-]+):(?<message>.*)$`),
  // A time, up to three words, and the level: `… - name - ERROR - …`, `… | ERROR | …`, `[…] [12] [ERROR] …`.
  new RegExp(
    String
      .raw`^\[?${TIME}\]?(?<key>(?:(?:\s+(?:[-|]\s+)?|(?<=\]))\[?[\w.:/#<>+-]{1,60}\]?(?=[\s[])){0,3}?)[\s\-|:,[]+(?<level>${LEVEL}|(?:emerg|alert|critical|crit|error|exception|warning|warn|notice|info|debug)(?=\s*\]))\s*\]?\s*(?<where>\[[^\]]*:\d+(?::\w+)?\])?\s*(?:in \w+)?[-|:]?\s*(?<message>.*)$`,
  ),
  // `[ERROR] …`, `ERROR: …`, `ERROR …`, `<ERROR> …`.
  new RegExp(String.raw`^[[<]?(?<level>${LEVEL})(?:[\]>]\s*[-:]?|:|(?= ))\s*(?<message>.*)$`),
  // logfmt.
  /^(?=.*\b(?:level|lvl)="?(?<level>\w+)).*?\b(?:msg|message|event)=(?<message>"(?:[^"\\]|\\.)*"|\S+)/,
  // A program's own complaint: `main: error: …`, `file.c:1:2: fatal error: …`, `error[E0308]: …`.
  /^(?<program>(?:[\w./<>()-]+(?::\d+)*: ){0,3})(?<level>fatal error|fatal|error|Error|warning|Warning|ERROR|WARNING|FATAL)(?:\[\w+\])?: (?<message>\S.*)$/,
  // SGLang, which states no level: `[2026-11-21 01:02:03 TP0] …`.
  new RegExp(String.raw`^\[${TIME}(?: [\w ]{1,40})?\] (?<message>.*)$`),
];

/** The record on this line, or `null` where it is none. */
export function parseLog(text: string): LogRecord | null {
  const json = parseJsonLog(text);
  if (json) return json;
  for (const format of FORMATS) {
    const match = format.exec(text);
    if (!match) continue;
    const { level, message = "", key = "", pid, program = "" } = match.groups!;
    return {
      level: levelOf(level ?? "") ?? "other",
      message: program + unquoted(message).trim() || text,
      key: level === undefined ? "" : `${level} ${key.trim()}`,
      pid,
    };
  }
  return null;
}

/** The record's body as written, indented as it is, for lines that go on in the next record. */
export function bodyOf(text: string, { message }: LogRecord): string {
  const at = text.lastIndexOf(message);
  if (at <= 0) return "";
  const header = text.slice(0, at).trimEnd();
  // A header ends with one blank, only `LEVEL:name:` with none: what is left indents the body.
  const blanks = at - header.length - (/^\w+:[^\s:]+:$/.test(header) ? 0 : 1);
  return " ".repeat(Math.max(0, blanks)) + message;
}

/** What a word for a level means to us, or `undefined` for a word that is none. */
export function levelOf(word: string): LogRecord["level"] | undefined {
  return LEVELS[word.toLowerCase()];
}

const LEVELS: Record<string, LogRecord["level"]> = {
  ...entries("error", "e err error eror f fatal crit critical severe panic alert emerg emergency"),
  ...entries("error", "dpanic exception"),
  "fatal error": "error",
  ...entries("warning", "w warn wrn warning"),
  ...entries("other", "i inf info d dbg debug t trace notice verbose default informational"),
};

function entries(level: LogRecord["level"], words: string): Record<string, LogRecord["level"]> {
  return Object.fromEntries(words.split(" ").map((word) => [word, level]));
}

function unquoted(message: string): string {
  if (!/^".*"$/.test(message)) return message;
  try {
    return JSON.parse(message);
  } catch {
    return message;
  }
}
