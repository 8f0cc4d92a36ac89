/** Tracebacks of Python, also of several processes at once. */

import type { Block, Finding } from "../block.ts";
import { AtOnce } from "./at_once.ts";
import type { Language } from "./dealer.ts";
import { isPreamble, isTracebackStart, TRACEBACK, Traceback } from "./python.ts";

/** A header or a frame, which Python writes at once, behind what another process had not written to its end. */
const GLUED =
  /^(?!\s*[|+])(.*\S.*?)(Traceback \(most recent call last\):| {2}File ".+", line \d+, in .+)$/;

/** What is left of lines of carets. */
const CARETS = /^[\s~^]*$/;

const PYTHON: Language = {
  start: (text) => isPreamble(text) || isTracebackStart(text) ? new Traceback(text) : undefined,
  pieces(text) {
    const [, before, start] = GLUED.exec(text) ?? [];
    if (start === undefined) return [];
    return CARETS.test(before!) ? [start] : [before!, start];
  },
  hasWholePieces: false,
  isMessageLast: true,
  kind: (text) =>
    text.startsWith(" ") ? text : text.replace(/^((?:\w+\.)*\w+): .*$/, "$1:").replace(/\d+/g, "0"),
};

/** A traceback that starts on this line; `before` is the log record that announced it. */
export function openTraceback(text: string, before?: Finding): Block | undefined {
  if (isPreamble(text)) return new AtOnce(text, () => new Traceback(text, before), PYTHON);
  const { before: announced, start } = TRACEBACK.exec(text)?.groups ?? {};
  if (start === undefined || /^\s*\|/.test(text)) return undefined;
  const message = announced!.replace(/[\s:]+$/, "");
  const announcement = before ??
    (message ? { level: "error" as const, message, exception: "" } : undefined);
  return new AtOnce(start, () => new Traceback(start, announcement), PYTHON);
}
