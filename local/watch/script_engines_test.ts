/** The engines of a script, found in a tree of processes. */

import assert from "node:assert/strict";
import type { ProcFiles } from "../base/proc_files.ts";
import { Recorder } from "../sources/recorder.ts";
import { createScriptEnginesSource } from "./script_engines.ts";

const REAPER = 1;
const FIRST = 2;

/** Children and command of each process, with blanks between the words. */
type Tree = Record<number, [command: string, ...children: number[]]>;

/** The sources that are open after each of the trees, and what each look says. */
async function open(...trees: Tree[]) {
  let tree: Tree = {};
  const read: Record<string, string> = {};
  const files: ProcFiles = {
    text(path) {
      const [pid, file] = [Number(path.split("/")[0]), path.split("/").at(-1)];
      const [command, ...children] = tree[pid] ?? [null];
      if (file === "children") return children.map((child) => `${child} `).join("");
      return file === "cmdline" ? command && command.replaceAll(" ", "\0") + "\0" : "";
    },
    names: () => null,
    link: () => null,
    size: () => null,
  };
  const opened = new Set<string>();
  const source = createScriptEnginesSource({
    pid: FIRST,
    reaper: REAPER,
    files,
    reason: "no engine",
    open({ url }, { among }) {
      const { port } = new URL(url);
      opened.add(port);
      read[port] = among ? "tagged" : "alone";
      return { sample() {}, settle: () => Promise.resolve(void opened.delete(port)) };
    },
  });
  const reasons: (string | undefined)[] = [];
  for (const next of trees) {
    tree = next;
    const recorder = new Recorder(0n, () => 1n);
    await source.sample(recorder);
    const { series } = recorder.cut(1n);
    reasons.push(...Array.from(series.values(), ({ tags }) => tags.reason));
  }
  return { opened: [...opened].sort(), read, reasons };
}

Deno.test("what the first process becomes is the engine, and what an engine starts is not looked at", async () => {
  const { opened, read, reasons } = await open(
    { [FIRST]: ["sh start.sh"] },
    { [FIRST]: ["vllm serve m --port 7", 3], 3: ["vllm serve m --port 9"] },
  );
  assert.deepEqual([opened, read, reasons], [["7"], { 7: "alone" }, ["no engine"]]);
});

Deno.test("engines below a script and its wrappers, and orphans, are found and tagged", async () => {
  const { opened, read } = await open({
    [REAPER]: ["service-supervisor", FIRST, 9],
    [FIRST]: ["bash start.sh", 3, 4],
    3: ["bash start.sh", 5],
    4: ["timeout 60 vllm serve m --port 7", 6],
    5: ["sglang serve --enable-metrics --port 8"],
    6: ["vllm serve m --port 7"],
    9: ["vllm serve m --port 9"],
  });
  assert.deepEqual([opened, new Set(Object.values(read))], [["7", "8", "9"], new Set(["tagged"])]);
});

Deno.test("an engine that has ended is let go, and one that takes its port is read", async () => {
  const first: Tree = { [FIRST]: ["sh a", 3], 3: ["vllm serve m --port 7"] };
  const second: Tree = { [FIRST]: ["sh a", 4], 4: ["vllm serve m --port 8"] };
  assert.deepEqual((await open(first, second)).opened, ["8"]);
  assert.deepEqual((await open(first, { [FIRST]: ["sh a"] }, first)).opened, ["7"]);
  const again: Tree = { [FIRST]: ["sh a", 4], 4: ["vllm serve m --port 7"] };
  assert.deepEqual((await open(first, again)).opened, ["7"]);
});

Deno.test("an engine without metrics says why, beside one that is read", async () => {
  const { opened, reasons } = await open({
    [FIRST]: ["sh a", 3, 4],
    3: ["vllm serve m --port 7"],
    4: ["sglang serve"],
  });
  assert.deepEqual(opened, ["7"]);
  assert.equal(reasons.length, 1);
  assert.match(reasons[0]!, /SGLang: .*add --enable-metrics/);
});

Deno.test("of very many processes the first are looked at", async () => {
  const children = Array.from({ length: 5_000 }, (_, i) => 100 + i);
  const tree: Tree = { [REAPER]: ["s", ...children], [FIRST]: ["sh a", ...children] };
  for (const pid of children) tree[pid] = [`vllm serve m --port ${pid}`];
  const { opened } = await open(tree);
  assert(opened.length > 0 && opened.length <= 64, `${opened.length}`);
});
