/** Line formats: errors that are told by the pattern of their first line. */

import { type Block, type Finding, simpleBlock } from "../block.ts";

/** A format of such errors. */
export interface LineFormat {
  /** The first line; groups `message`, and `pid` if it has one. */
  opens: RegExp;
  level?: Finding["level"];
  /** Lines that belong to it; without it none. */
  takes?: RegExp;
  last?: RegExp;
  laterMessage?: RegExp;
}

const NOTHING = /(?!)/;

/** The error that starts on this line, in the first format that it has. */
export function openOneOf(formats: readonly LineFormat[], text: string): Block | undefined {
  for (const { opens, level, takes = NOTHING, last, laterMessage } of formats) {
    const { message, pid } = opens.exec(text)?.groups ?? {};
    if (message) {
      return simpleBlock({ level, message, first: text, pid, takes, last, laterMessage });
    }
  }
  return undefined;
}
