/** Crashes of processes that die at once: what is told as surely theirs is theirs, and each is told. */

import assert from "node:assert/strict";
import fc from "fast-check";
import type { ErrorEntry } from "@service/core";
import { createConsole } from "../console.ts";
import { MIXED } from "./dealer.ts";

const WORKERS = new URL("../testdata/workers/", import.meta.url);

/** Recorded runs of eight workers that die at once in two ways, and how many are told whole. */
const RUNS: Record<string, number> = {
  "python_3.11": 7,
  "python_3.13": 6,
  asan: 2,
  cpp: 6,
  go: 4,
  java: 5,
  node: 8,
  rust: 8,
  rust_backtrace: 1,
};

/** All errors in a text that is written at once, the repeated ones too. */
function errorsIn(text: string): ErrorEntry[] {
  const entries: ErrorEntry[] = [];
  const console = createConsole({ report: (entry) => entries.push(entry), now_ns: () => 0n });
  console.write({ stream: 2, time_ns: 0n, bytes: new TextEncoder().encode(text) });
  console.end({ code: 0, signal: null }, 0n);
  return entries;
}

/** The lines without what is of one process alone, and without carets, which are lost in torn lines. */
function alike({ message, exception }: ErrorEntry): string {
  return (exception || message).replace(MIXED, "")
    .replace(/0x[\da-f]+|==\d+==|\(\d+\)|BuildId: \w+/g, "0").replace(/\n*Node\.js v.*$/, "")
    .split("\n").filter((line) => !/^[\s~^]*$/.test(line)).join("\n");
}

for (const [name, wholes] of Object.entries(RUNS)) {
  Deno.test(`${name}: of eight that die at once, ${wholes} are told whole, and no other one as such`, () => {
    const read = (file: string) => Deno.readTextFileSync(new URL(file, WORKERS));
    const alone = new Set(
      read(`${name}_alone.txt`).split(/^=====\n/m).filter(Boolean).map((text) =>
        alike(errorsIn(text)[0]!)
      ),
    );
    const told = errorsIn(read(`${name}.log`));
    const isWhole = (error: ErrorEntry) => alone.has(alike(error));
    for (const error of told) {
      assert(isWhole(error) || error.exception.endsWith(MIXED), alike(error));
    }
    assert(told.filter(isWhole).length >= wholes, `${told.filter(isWhole).length} of ${wholes}`);
  });
}

/** What a process writes when it crashes, write by write: the numbers in the message differ alone. */
const ALIKE: Record<string, (name: string, frames: number[]) => string[]> = {
  Java: (name, frames) => [
    `Exception in thread "main" java.lang.IllegalStateException: worker ${name}`,
    ...frames.map((n) => `\tat app.Worker.step${n}(Worker.java:${n})`),
    "Caused by: java.io.IOException: gone",
    "\t... 1 more",
  ],
  Go: (name, frames) => [
    `panic: worker ${name}`,
    "",
    "goroutine 1 [running]:",
    ...frames.flatMap((n) => [`main.step${n}(...)`, `\t/app/worker.go:${n} +0x1d`]),
  ],
  Rust: (name, frames) => [
    `thread 'main' panicked at src/main.rs:3:36:\nworker ${name}`,
    "stack backtrace:",
    ...frames.flatMap((n) => [`   ${n}: worker::step${n}`, `             at ./src/main.rs:${n}:5`]),
  ],
};

for (const [language, crash] of Object.entries(ALIKE)) {
  Deno.test(`${language}: processes that die alike are told whole, in any mixture of their lines`, () => {
    fc.assert(fc.property(
      fc.subarray(["1", "2", "3", "4", "5"], { minLength: 2 }),
      fc.integer({ min: 1, max: 6 }),
      fc.infiniteStream(fc.nat({ max: 4 })),
      (names, frames, turns) => {
        const all = names.map((name) => crash(name, Array.from({ length: frames }, (_, n) => n)));
        const left = all.map((lines) => [...lines]);
        let text = "";
        for (const turn of turns) {
          const open = left.filter((lines) => lines.length > 0);
          if (open.length === 0) break;
          text += `${open[turn % open.length]!.shift()}\n`;
        }
        assert.deepEqual(
          errorsIn(text).map(({ exception }) => exception).sort(),
          all.map((lines) => lines.join("\n")).sort(),
        );
      },
    ));
  });
}
