/** Node and Deno: errors with their stacks. */

import { type Block, Lines, simpleBlock } from "./console_block.ts";

const NAMED = /^(?:Uncaught )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[\w+\])?(?:: .*)?$/;
const DENO = /^error: (Uncaught .*)$/;
const STACK =
  /^(?:\s+(?:at |\[|\^|.*[{}]$|\w+: )|[\]}]+,?$|Node\.js v|Caused by: |Require stack:$|- [/.]|$)/;

/** An error that starts on this line. */
export function openStack(text: string): Block | undefined {
  const uncaught = DENO.exec(text)?.[1];
  if (uncaught) return withSource(uncaught, text);
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

/** Deno shows the source line and a caret before the stack. */
function withSource(message: string, first: string): Block {
  const lines = new Lines(first);
  return {
    take(text, isLog) {
      const isSource = lines.count === 1 && !isLog;
      if (!isSource && !STACK.test(text)) return "ended";
      lines.push(text);
      return "took";
    },
    finding: () => ({ level: "error", message, exception: lines.count > 1 ? lines.text : "" }),
  };
}
