/** Go and Rust panics. */

import { type Block, Lines, simpleBlock } from "../block.ts";
import { isReading } from "../readings.ts";

/** A line of a Go stack: a goroutine, a call, a place, a signal, or a register. */
const GO_STACK =
  /^(?:\t|$|\[signal |goroutine \d+|created by |panic: |runtime: |\[recovered|[\w./*()[\]{}$·~,-]+\(.*\)$|[a-z]\w{1,5} +0x[0-9a-f]+$|\.\.\.additional frames)/;

/** A Go panic or fatal error with its goroutines. */
export function openGoPanic(text: string): Block | undefined {
  const message =
    /^(?:panic: .*|unexpected fault address .*|fatal error: (?:all goroutines|concurrent map|runtime|unexpected signal|stack overflow|out of memory).*|SIG[A-Z]+: .*)$/
      .exec(text)?.[0];
  if (message === undefined || isReading(message.replace(/^panic: /, ""))) return undefined;
  return simpleBlock({ message, first: text, takes: GO_STACK, last: /^exit status \d+$/ });
}

const BACKTRACE = /^(?:stack backtrace:|\s+\S|note: )/;

/** A Rust panic with its notes and backtrace; its message is on the next line since Rust 1.73. */
export function openRustPanic(text: string): Block | undefined {
  const panic = /^thread '[^']*'(?: \(\d+\))? panicked at (?:'(?<message>.*)', )?.*$/.exec(text);
  if (!panic) return undefined;
  let message = panic.groups!.message;
  const lines = new Lines(text);
  return {
    take(line) {
      if (message !== undefined && !BACKTRACE.test(line)) return "ended";
      message ??= line;
      lines.push(line);
      return "took";
    },
    finding: () => ({ level: "error", message: message ?? text, exception: lines.text }),
  };
}
