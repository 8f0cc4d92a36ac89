/** The recognisers of warnings and errors, in the order in which they are asked. */

import type { Block } from "./block.ts";
import { openCrash } from "./formats/crashes.ts";
import { openAnnouncedStack, openStack } from "./formats/javascript.ts";
import { openNative, openReport } from "./formats/natives.ts";
import { openProgram } from "./formats/programs.ts";
import { openBoxedTraceback, openSyntaxError, openWarning } from "./formats/python.ts";
import { openRecord } from "./formats/records.ts";
import type { LogRecord } from "./levels.ts";

/** Formats that count also where their first line looks like a log record. */
const ABOVE_RECORDS: readonly ((text: string) => Block | undefined)[] = [
  openReport,
  openCrash,
  openSyntaxError,
  openBoxedTraceback,
  openWarning,
  openStack,
];

/** The block that starts on a line, unless that is a Python traceback; `record` is its log record. */
export function openBlock(text: string, record: LogRecord | null): Block | undefined {
  for (const open of ABOVE_RECORDS) {
    const block = open(text);
    if (block) return block;
  }
  if (!record) return openNative(text) ?? openProgram(text) ?? openAnnouncedStack(text);
  if (record.level !== "other") {
    return record.body.trim() === "" ? undefined : openRecord(record, record.level);
  }
  // A record of a level below warning is no error, even if its words look like one.
  return record.key === "" ? openNative(record.message) : undefined;
}
