/** Log records: lines that state their level, as text in a known format or as JSON. */

import type { Finding } from "./block.ts";
import { FORMATS } from "./log_formats.ts";

/** A line that a logger wrote. */
export interface LogRecord {
  /** Severity; `other` for information, debugging, and records that state none. */
  level: Finding["level"] | "other";
  message: string;
  /** The message, or the part of it behind the level word. */
  body: string;
  /** Traceback or stack within the record, such as `exc_info` of a JSON record. */
  exception?: string;
  /** The header without its time, which identifies the logger; empty where no level is stated. */
  key: string;
  pid?: string;
}

/** The record on this line, or `null` if there is none. */
export function parseLog(text: string): LogRecord | null {
  const json = parseJsonLog(text);
  if (json) return json;
  for (const { pattern, isFigure } of FORMATS) {
    const match = pattern.exec(text);
    if (!match) continue;
    const { level, priority, message = "", body = message, key = "", pid } = match.groups!;
    if (isFigure?.(body)) return { level: "other", message: text, body: "", key: "" };
    const stated = priority === undefined ? levelOf(level ?? "") : levelOfPriority(priority);
    return {
      level: stated ?? "other",
      message: unquoted(message).trim() || text,
      body,
      key: stated === undefined ? "" : `${level ?? priority} ${key.trim()}`,
      pid,
    };
  }
  return null;
}

/** The record's body as written, indented as it is, for text that continues in the next record. */
export function bodyOf(text: string, { body }: LogRecord): string {
  const at = text.lastIndexOf(body);
  if (at <= 0) return "";
  const header = text.slice(0, at).trimEnd();
  // One blank ends a header, none ends `LEVEL:name:`; further blanks indent the body.
  const blanks = at - header.length - (/^\w+:[^\s:]+:$/.test(header) ? 0 : 1);
  return " ".repeat(Math.max(0, blanks)) + body;
}

const LEVEL_FIELDS = fields("level severity lvl levelname log.level loglevel severityText");
const MESSAGE_FIELDS = fields("message msg event textPayload body");
const EXCEPTION_FIELDS = [
  ...fields("error err error.message exc_info exception"),
  ...fields("stack stack_trace stacktrace traceback error.stack_trace"),
];
const PID_FIELDS = fields("pid process.pid process");
/** Fields of an error object. */
const ERROR_FIELDS = fields("stack stacktrace traceback message");

function fields(names: string): string[] {
  return names.split(" ");
}

/** The record of a line that is a JSON object with a level; `null` for any other line. */
function parseJsonLog(text: string): LogRecord | null {
  if (!text.startsWith("{") || !text.endsWith("}")) return null;
  let record: Record<string, unknown>;
  try {
    record = JSON.parse(text);
  } catch {
    return null;
  }
  const stated = first(record, LEVEL_FIELDS);
  const level = typeof stated === "number" ? levelOfNumber(stated) : levelOf(textOf(stated));
  if (level === undefined) return null;
  const exception = exceptionOf(record);
  const message = textOf(first(record, MESSAGE_FIELDS)) || exception.split("\n")[0] || text;
  const pid = first(record, PID_FIELDS);
  return {
    level,
    message,
    body: message,
    exception,
    key: "",
    pid: Number.isInteger(pid) ? String(pid) : undefined,
  };
}

/** The texts of all exception fields, without those that another one contains. */
function exceptionOf(record: Record<string, unknown>): string {
  const texts = EXCEPTION_FIELDS.map((name) => record[name]).filter((field) => field !== true)
    .map((field) => textOf(field).trimEnd());
  const isContained = (text: string, at: number) =>
    texts.some((other, i) => other.includes(text) && (other !== text || i < at));
  return texts.filter((text, at) => text !== "" && !isContained(text, at)).join("\n");
}

function first(record: Record<string, unknown>, names: readonly string[]): unknown {
  return names.map((name) => record[name]).find((value) => value !== undefined && value !== null);
}

/** A field as text; of an error object its stack or message. */
function textOf(value: unknown): string {
  if (value === undefined || value === null || value === false) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  if (typeof value !== "object") return String(value);
  const stack = first(value as Record<string, unknown>, ERROR_FIELDS);
  return typeof stack === "string" ? stack : JSON.stringify(value);
}

const LEVELS: Record<string, LogRecord["level"]> = {
  ...words("error", "e err error eror f fatal c crit critical severe panic alert emerg emergency"),
  ...words("error", "dpanic exception"),
  ...words("warning", "w warn wrn warning"),
  ...words("other", "i inf info d dbg debug t trace notice verbose default informational"),
};

function words(level: LogRecord["level"], words: string): Record<string, LogRecord["level"]> {
  return Object.fromEntries(words.split(" ").map((word) => [word, level]));
}

/** The level of a word, or `undefined` if the word is not a level. */
function levelOf(word: string): LogRecord["level"] | undefined {
  return LEVELS[word.toLowerCase().replace(/^.* error$/, "error")];
}

/** The level of a number as bunyan and pino use it (10 to 60); Python's agree with it up to errors. */
function levelOfNumber(level: number): LogRecord["level"] | undefined {
  if (level < 10 || level > 60) return undefined;
  return level >= 50 ? "error" : level >= 40 ? "warning" : "other";
}

/** The level of a syslog priority, whose lower three bits are the severity. */
function levelOfPriority(priority: string): LogRecord["level"] {
  const severity = Number(priority) & 7;
  return severity <= 3 ? "error" : severity === 4 ? "warning" : "other";
}

function unquoted(message: string): string {
  if (!/^".*"$/.test(message)) return message;
  try {
    return JSON.parse(message);
  } catch {
    return message;
  }
}
