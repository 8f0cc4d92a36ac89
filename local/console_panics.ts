/** Go and Rust panics. */

import { type Block, simpleBlock } from "./console_block.ts";

/** A line of a Go stack: a goroutine, a call, its place, a signal, or a register. */
const GO_STACK =
  /^(?:\t|$|\[signal |goroutine \d+|created by |panic: |runtime: |\[recovered|[\w./*()[\]{}$·~,-]+\(.*\)$|[a-z]\w{1,5} +0x[0-9a-f]+$|\.\.\.additional frames)/;

/** A Go panic or fatal error with its goroutines. */
export function openGoPanic(text: string): Block | undefined {
  const message =
    /^(?:panic: .*|fatal error: (?:all goroutines|concurrent map|runtime|unexpected signal|stack overflow|out of memory).*|SIG[A-Z]+: .*)$/
      .exec(text)?.[0];
  if (message === undefined) return undefined;
  return simpleBlock({ message, first: text, takes: GO_STACK, last: /^exit status \d+$/ });
}

/** A Rust panic with its notes and backtrace. */
export function openRustPanic(text: string): Block | undefined {
  const [, thread, old] =
    /^(thread '[^']*'(?: \(\d+\))? panicked at )(?:'(.*)', )?.*$/.exec(text) ?? [];
  if (!thread) return undefined;
  const rest = simpleBlock({
    message: old ?? text,
    first: text,
    takes: /^(?:stack backtrace:|\s+\S|note: )/,
  });
  if (old !== undefined) return rest;
  let says: string | undefined;
  let body: Block | undefined;
  return {
    take(line, isLog) {
      if (says === undefined) {
        says = line;
        body = simpleBlock({
          message: line,
          first: `${text}\n${line}`,
          takes: /^(?:stack backtrace:|\s+\S|note: )/,
        });
        return "took";
      }
      return body!.take(line, isLog);
    },
    finding() {
      const { message = text, exception } = body?.finding() ?? {};
      return {
        level: "error",
        message,
        exception: exception || (says === undefined ? text : `${text}\n${says}`),
      };
    },
  };
}
