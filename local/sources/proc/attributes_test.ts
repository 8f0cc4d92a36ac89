/** Attributes of a process: its runtime, and its command line without secrets. */

import assert from "node:assert/strict";
import { processAttributes, runtime } from "./attributes.ts";

const RUNTIMES: [string, Record<string, string>][] = [
  ["/usr/bin/python3.11", { "runtime.name": "python", "runtime.version": "3.11" }],
  ["/opt/python3.13t (deleted)", { "runtime.name": "python", "runtime.version": "3.13" }],
  ["/usr/bin/python3", { "runtime.name": "python" }],
  ["/usr/bin/node", { "runtime.name": "node" }],
  ["/opt/deno/bin/deno", { "runtime.name": "deno" }],
  ["/usr/bin/node_exporter", {}],
  ["/usr/bin/pythonic", {}],
  ["", {}],
];

for (const [executable, expected] of RUNTIMES) {
  Deno.test(`the runtime of "${executable}" is ${expected["runtime.name"] ?? "not told"}`, () => {
    assert.deepEqual(runtime(executable), expected);
  });
}

Deno.test("a command line is redacted, then cut", () => {
  const texts: Record<string, string> = {
    "7/cmdline": `x\0--token\0${"k".repeat(9_000)}\0${"y".repeat(9_000)}\0\0`,
  };
  const nothing = () => null;
  const files = {
    text: (path: string) => texts[path] ?? null,
    names: nothing,
    link: nothing,
    size: nothing,
  };
  const attributes = processAttributes(files, { pid: 7, parent: 1, comm: "x" });
  const line = attributes["process.command_line"]!;
  assert.match(line, /^x --token \[redacted\] y+…$/);
  assert.equal(line.length, 4_096);
  assert.equal("process.executable" in attributes, false);
});
