/** Node and Deno: errors with their stacks. */

import { type Block, Lines, simpleBlock } from "../block.ts";
import { isReading } from "../readings.ts";

const NAMED =
  /^(?:Uncaught )?(?:\(in promise\) )?(?:[\w$]+\.)*(?:[\w$]*(?:Error|Exception)|(?<=\w\.)Broken\w+)(?:\(\w+\)| \[\w+\])?(?::(?: (?<message>.*))?)?$/;
const DENO = /^error: (Uncaught .*)$/;
/** The place of an uncaught error, which Node prints before the source line. */
const PLACE = /^(?:node:[\w/.-]+|(?:file:\/\/)?\/.+\.[cm]?[jt]sx?):\d+$/;
const STACK =
  /^(?:\s+(?:at |\[|\^|.*[{}]$|\w+: )|[\]}]+,?$|Node\.js v|Caused by: |Require stack:$|- [/.]|[│└] |$)/;

/** An error behind words of the program, as `console.error("Cannot load:", error)` prints it. */
const ANNOUNCED = /^(?!\s).*[^\w$.](?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[\w+\])?: ./;

const DIED = /^Node\.js v\d/;
const MAX_DYING_LINES = 500;

/** An error that starts on this line. */
export function openStack(text: string): Block | undefined {
  const uncaught = DENO.exec(text)?.[1];
  if (uncaught) return withSource(uncaught, text);
  if (PLACE.test(text)) return atPlace(text);
  const [, pid, warning] = /^\(node:(\d+)\) (.*Warning: .*)$/.exec(text) ?? [];
  if (pid) {
    return simpleBlock({
      level: "warning",
      message: warning!,
      first: text,
      pid,
      takes: /^\(Use `|^ {4}at /,
    });
  }
  const named = NAMED.exec(text);
  // A bare "Error" is the heading of a column, a figure behind a name that of a measure.
  if (!named || /^(?:Error|Exception):?$/.test(text) || isReading(named.groups!.message ?? "x")) {
    return undefined;
  }
  return simpleBlock({ message: text, first: text, takes: STACK });
}

/** Node's report of an uncaught error: the place, the source line, a caret, the error, and Node's version. */
function atPlace(first: string): Block {
  const lines = new Lines(first);
  let caret = false;
  let message: string | undefined;
  return {
    take(text, { isLog }) {
      if (isLog && !(caret && message === undefined)) return caret ? "passed" : "ended";
      // The next process has begun before this one said that it died.
      if (message !== undefined && PLACE.test(text)) return "ended";
      if (!caret) {
        caret = /^\s*\^+$/.test(text);
        if (!caret && lines.count > 1) return "ended";
      } else if (lines.count > MAX_DYING_LINES) return "ended";
      else if (text !== "") message ??= text;
      lines.push(text);
      return caret && DIED.test(text) ? "completed" : "took";
    },
    finding: () =>
      message === undefined ? null : { level: "error", message, exception: lines.text },
  };
}

/** An error after words of the program; it counts only if its stack follows. */
export function openAnnouncedStack(message: string): Block | undefined {
  if (!ANNOUNCED.test(message)) return undefined;
  const lines = new Lines(message);
  return {
    take(text, { isLog }) {
      if (isLog || !(lines.count > 1 ? STACK : /^ {4}at /).test(text)) return "ended";
      lines.push(text);
      return "took";
    },
    finding: () => lines.count > 1 ? { level: "error", message, exception: lines.text } : null,
  };
}

/** Deno's report of an uncaught error, with the source line and a caret before the stack. */
function withSource(message: string, first: string): Block {
  const lines = new Lines(first);
  return {
    take(text, { isLog }) {
      const isSource = lines.count === 1 && !isLog;
      if (!isSource && !STACK.test(text)) return "ended";
      lines.push(text);
      return "took";
    },
    finding: () => ({ level: "error", message, exception: lines.count > 1 ? lines.text : "" }),
  };
}
