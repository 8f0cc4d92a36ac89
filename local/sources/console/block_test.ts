/** Blocks of console lines: which lines belong to one exception or one record. */

import assert from "node:assert/strict";
import type { ErrorEntry } from "@service/core";
import { createConsole } from "./console.ts";

const MS_NS = 1_000_000n;

/** Findings in texts that are written one after the other, with a pause between them. */
function found(...texts: string[]): ErrorEntry[] {
  const entries: ErrorEntry[] = [];
  const console = createConsole({ report: (entry) => entries.push(entry), now_ns: () => 0n });
  let time_ns = 0n;
  for (const text of texts) {
    console.write({ stream: 2, time_ns, bytes: new TextEncoder().encode(text) });
    time_ns += 5n * MS_NS;
  }
  console.end({ code: 0, signal: null }, time_ns);
  return entries;
}

Deno.test("notes follow their exception at once: what is written later, or opens anew, is none", () => {
  const traceback = 'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1\nnote';
  const entries = found(
    `${traceback}\nterminate called without an active exception\n`,
    `${traceback}\n`,
    "step 2 of 9\n",
  );
  assert.deepEqual(entries.map(({ message, exception }) => [message, exception]), [
    ["KeyError: 1", traceback],
    ["terminate called without an active exception", ""],
    ["KeyError: 1", traceback],
  ]);
});

Deno.test("of a JSON record the fault and its stack are told, each once", () => {
  const exceptionOf = (record: unknown) => found(JSON.stringify(record))[0]!.exception;
  assert.equal(
    exceptionOf({ level: "error", msg: "m", error: "EOF", stacktrace: "main.main\n\t/a.go:1" }),
    "EOF\nmain.main\n\t/a.go:1",
  );
  assert.equal(
    exceptionOf({ level: 50, err: { message: "x", stack: "Error: x\n    at a" } }),
    "Error: x\n    at a",
  );
  assert.equal(
    exceptionOf({
      "log.level": "error",
      "error.message": "x",
      "error.stack_trace": "E: x\n\tat a",
    }),
    "E: x\n\tat a",
  );
  assert.equal(exceptionOf({ level: "error", msg: "m", exc_info: true }), "");
});

Deno.test("indented lines that follow a record at once belong to it, unless they are a traceback", () => {
  const lines = [
    "WARNING: unknown options:",
    "  - batch",
    "  - device",
    "ERROR: it failed",
    "  + Exception Group Traceback (most recent call last):",
    "  | ExceptionGroup: two (2 sub-exceptions)",
    "    +------------------------------------",
    "ready",
  ];
  assert.deepEqual(
    found(lines.join("\n")).map(({ message, exception }) => [message, exception]),
    [
      ["unknown options:", "  - batch\n  - device"],
      ["it failed", lines.slice(4, 7).join("\n")],
    ],
  );
});

Deno.test("a summary behind an exception is kept whole, the number of a process in it too", () => {
  const lines = [
    "Traceback (most recent call last):",
    '  File "/usr/bin/torchrun", line 8, in <module>',
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
    "==================",
    "Root Cause (first observed failure):",
    "[0]:",
    "  exitcode  : 1 (pid: 4241)",
    "==================",
  ].join("\n");
  assert.deepEqual(found(lines).map(({ exception }) => exception), [lines]);
});

Deno.test("a message of several lines does not break the box of its group", () => {
  const lines = [
    "  + Exception Group Traceback (most recent call last):",
    '  |   File "a.py", line 15, in <module>',
    "  | ExceptionGroup: two (2 sub-exceptions)",
    "  +-+---------------- 1 ----------------",
    "    | ValueError: one",
    "more",
    "    +---------------- 2 ----------------",
    "    | ValueError: two",
    "    +------------------------------------",
  ];
  const [entry, ...others] = found([...lines, "ready"].join("\n"));
  assert.deepEqual(others, []);
  assert.equal(entry!.exception, lines.join("\n"));
});

Deno.test("a traceback that rich has drawn is told with its exception, also inside a record", () => {
  const box = [
    "╭───────── Traceback (most recent call last) ─────────╮",
    "│ /app/a.py:3 in <module>                             │",
    "│ ❱ 3 load()                                          │",
    "╰─────────────────────────────────────────────────────╯",
    "ValueError: no room",
  ];
  assert.deepEqual(
    found([...box, "ready"].join("\n")).map(({ message, exception }) => [message, exception]),
    [["ValueError: no room", box.join("\n")]],
  );
  const indented = box.map((line) => " ".repeat(29) + line);
  const record = "[11/21/26 01:02:03] ERROR    cannot load                             a.py:3";
  assert.deepEqual(
    found([record, ...indented, "ready"].join("\n")).map(({ message, exception }) => [
      message,
      exception,
    ]),
    [["cannot load", indented.join("\n")]],
  );
});

Deno.test("a record without a message is no finding", () => {
  assert.deepEqual(found("[ERROR] \nERROR:\nERROR 11-21 01:02:03 [core.py:1] \nready\n"), []);
});

Deno.test("the level word stays where it is a word of the message, not a header", () => {
  const messages = (text: string) => found(text).map(({ message }) => message);
  assert.deepEqual(messages("ERROR while loading shard 3\n"), ["ERROR while loading shard 3"]);
  assert.deepEqual(messages("a.c:1:2: fatal error: no a.h\n"), ["a.c:1:2: fatal error: no a.h"]);
  assert.deepEqual(messages("[ERROR] no room\n"), ["no room"]);
});

Deno.test("the stack that a record is told with is kept", () => {
  const stack = 'Stack (most recent call last):\n  File "a.py", line 6, in <module>\n    log()';
  assert.deepEqual(found(`ERROR:root:here\n${stack}\n`).map(({ exception }) => exception), [stack]);
});

Deno.test("what stands between a record and its traceback is kept with them", () => {
  const lines = [
    "ERROR:     Task exception was never retrieved",
    "future: <Task finished name='Task-2' exception=OSError('x')>",
    "Traceback (most recent call last):",
    '  File "a.py", line 19, in bad',
    "OSError: x",
  ];
  assert.deepEqual(
    found(lines.join("\n")).map(({ message, exception }) => [message, exception]),
    [["Task exception was never retrieved", lines.slice(1).join("\n")]],
  );
});

Deno.test("the last lines of the console are in the letters that they were written in", () => {
  const entries: ErrorEntry[] = [];
  const console = createConsole({ report: (entry) => entries.push(entry), now_ns: () => 0n });
  const bytes = new TextEncoder().encode("│ Größe 日本 │\r\n50%\r100% … done\r\n");
  console.write({ stream: 0, time_ns: 0n, bytes });
  console.end({ code: 1, signal: null }, 0n);
  assert.deepEqual(entries.map(({ exception }) => exception), ["│ Größe 日本 │\n100% … done"]);
});

Deno.test("places in code that no error follows are none", () => {
  const lines = [
    '  File "a.py", line 3',
    "    x = 1",
    "ready",
    "/app/main.js:12",
    "loaded",
    "ready",
    "Handled: TypeError: none",
    "ready",
  ];
  assert.deepEqual(found(lines.join("\n")), []);
});
