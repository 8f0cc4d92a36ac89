/** Log records as blocks: a record, and the lines of a stack that follow it. */

import type { Block, Finding } from "../block.ts";
import type { LogRecord } from "../levels.ts";
import { NOTE_PAUSE_NS } from "./python.ts";

/** Lines of stacks, and what asyncio prints of the task before one. */
const STACK_LINE =
  /^(?:\s+at |\t|Caused by: |\s+\.\.\. \d+ more|[│└] |\d+ +0x[0-9a-f]+ |future: <|Stack \(most recent call last\):$)/;

const MAX_LINES = 1_000;

/** The block of a log record: it takes lines of a stack, and indented lines that follow at once. */
export function openRecord(record: LogRecord, level: Finding["level"]): Block {
  const { message, exception = "", pid } = record;
  const lines: string[] = [];
  return {
    take(text, { isLog, pause_ns, opens }) {
      const continues = STACK_LINE.test(text) ||
        /^\s+\S/.test(text) && pause_ns <= NOTE_PAUSE_NS && !opens();
      if (isLog || !continues || lines.length >= MAX_LINES) return "ended";
      lines.push(text);
      return "took";
    },
    finding: () => ({
      level,
      message,
      exception: [exception, ...lines].filter(Boolean).join("\n"),
      pid,
    }),
  };
}
