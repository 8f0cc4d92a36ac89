/** Log records written as JSON, one to a line. */

import { levelOf, type LogRecord } from "./levels.ts";

const LEVELS = ["level", "severity", "lvl", "levelname", "log.level", "loglevel", "severityText"];
const MESSAGES = ["message", "msg", "event", "textPayload", "body"];
const FAULTS = [
  ...["error", "err", "error.message", "exc_info", "exception"],
  ...["stack", "stack_trace", "stacktrace", "traceback", "error.stack_trace"],
];

/** The record of a line that is a JSON object with a level; `null` for any other line. */
export function parseJsonLog(text: string): LogRecord | null {
  if (!text.startsWith("{") || !text.endsWith("}")) return null;
  let record: Record<string, unknown>;
  try {
    record = JSON.parse(text);
  } catch {
    return null;
  }
  const stated = first(record, LEVELS);
  const level = typeof stated === "number" ? numbered(stated) : levelOf(words(stated));
  if (level === undefined) return null;
  const exception = faults(record);
  const message = words(first(record, MESSAGES)) || exception.split("\n")[0] || text;
  const pid = first(record, ["pid", "process.pid", "process"]);
  return {
    level,
    message,
    exception,
    key: "",
    pid: Number.isInteger(pid) ? String(pid) : undefined,
  };
}

/** All that the record says of the fault, each thing once: what went wrong, then its stack. */
function faults(record: Record<string, unknown>): string {
  const told = FAULTS.map((name) => record[name]).filter((fault) => fault !== true).map(words)
    .map((text) => text.trimEnd());
  return told.filter((text, at) =>
    text !== "" && !told.some((other, i) => other.includes(text) && (other !== text || i < at))
  ).join("\n");
}

function first(record: Record<string, unknown>, names: readonly string[]): unknown {
  return names.map((name) => record[name]).find((value) => value !== undefined && value !== null);
}

/** A value as text; of an error object its stack or message. */
function words(value: unknown): string {
  if (value === undefined || value === null || value === false) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(words).join("\n");
  if (typeof value !== "object") return String(value);
  const stack = first(value as Record<string, unknown>, [
    "stack",
    "stacktrace",
    "traceback",
    "message",
  ]);
  return typeof stack === "string" ? stack : JSON.stringify(value);
}

/** Levels of bunyan and pino (10 to 60), which Python's numbers (10 to 50) agree with up to errors. */
function numbered(level: number): LogRecord["level"] | undefined {
  if (level < 10 || level > 60) return undefined;
  return level >= 50 ? "error" : level >= 40 ? "warning" : "other";
}
