/** Node and Deno: errors with their stacks. */

import { type Block, Lines, simpleBlock } from "../block.ts";

const NAMED = /^(?:Uncaught )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[\w+\])?(?:: .*)?$/;
const DENO = /^error: (Uncaught .*)$/;
/** Where an uncaught error was thrown, as Node says it before the source line. */
const PLACE = /^(?:node:[\w/.-]+|(?:file:\/\/)?\/.+\.[cm]?[jt]sx?):\d+$/;
const STACK =
  /^(?:\s+(?:at |\[|\^|.*[{}]$|\w+: )|[\]}]+,?$|Node\.js v|Caused by: |Require stack:$|- [/.]|$)/;

/** Words of the program before an error, as `console.error("Cannot load:", error)` writes them. */
const SAID = /[^\w$.](?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[\w+\])?: ./;

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
  if (!NAMED.test(text)) return undefined;
  return simpleBlock({ message: text, first: text, takes: STACK });
}

/** What Node writes as it dies: where, the source line, a caret, the error, and its version. */
function atPlace(first: string): Block {
  const lines = new Lines(first);
  let caret = false;
  let message: string | undefined;
  return {
    take(text, { isLog }) {
      if (isLog && !(caret && message === undefined)) return caret ? "passed" : "ended";
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

/** An error behind words of the program: it is one where its stack follows. */
export function openToldStack(message: string): Block | undefined {
  if (!SAID.test(message)) return undefined;
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

/** Deno shows the source line and a caret before the stack. */
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
