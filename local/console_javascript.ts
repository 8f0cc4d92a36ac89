/** Node and Deno: errors with their stacks. */

import { type Block, type Finding, simpleBlock } from "./console_block.ts";

const NAMED = /^(?:Uncaught )?(?:[\w$]+\.)*[\w$]*(?:Error|Exception)(?: \[\w+\])?(?:: .*)?$/;
const DENO = /^error: (Uncaught .*)$/;
const STACK =
  /^(?:\s+(?:at |\[|\^|.*[{}]$|\w+: )|[\]}]+,?$|Node\.js v|Caused by: |Require stack:$|- [/.\\w]|$)/;

/** An error that starts on this line. */
export function openStack(text: string, before?: Finding): Block | undefined {
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
  const block = simpleBlock({
    message: before?.message ?? text,
    first: text,
    pid: before?.pid,
    takes: STACK,
  });
  return block;
}

/** Deno shows the source line and a caret before the stack. */
function withSource(message: string, first: string): Block {
  const block = simpleBlock({ message, first, takes: STACK });
  const inner = simpleBlock({ message, first, takes: /^/ });
  let sourced = false;
  let lines = 0;
  return {
    take(text, isLog) {
      if (lines++ === 0 && !STACK.test(text) && !isLog) {
        sourced = true;
        return inner.take(text, isLog);
      }
      if (!STACK.test(text)) return "ended";
      return (sourced ? inner : block).take(text, isLog);
    },
    finding: () => (sourced ? inner : block).finding(),
  };
}
