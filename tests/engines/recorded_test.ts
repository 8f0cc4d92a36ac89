/** Engines as they were recorded: every series of their pages, through a restart, and their consoles. */

import assert from "node:assert/strict";
import { encode } from "@service/core";
import { freePort } from "../free_port.ts";
import { readLocal, startRun, until } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";
import { afterRestart, differences, type Readings, readPage } from "./page.ts";

const ENGINES: { name: string; words: string[]; series: number }[] = [
  { name: "vllm", words: ["vllm", "serve", "tiny"], series: 133 },
  { name: "sglang", words: ["sglang", "serve", "--model-path", "tiny"], series: 153 },
];

const file = (path: string) => new URL(path, import.meta.url).pathname;

for (const { name, words: [program, ...args], series } of ENGINES) {
  Deno.test(`every series of ${name} is in the document, through a restart, and no error`, async () => {
    await using directory = await temporaryDirectory();
    const { path } = directory;
    await Deno.copyFile(file("player.py"), `${path}/${program}`);
    await Deno.chmod(`${path}/${program}`, 0o755);
    const port = freePort();
    const pages = ["rest", "load", "after"].map((page) => file(`recordings/${name}_${page}.txt`));
    const console = `../../local/sources/console/testdata/engines/${name}_healthy.log`;
    await using run = startRun([`${path}/${program}`, ...args, "--port", String(port)], {
      directory: path,
      env: { ENGINE_PAGES: pages.join(":"), ENGINE_CONSOLE: file(console) },
    });
    const get = async (path: string) =>
      await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    const isUp = () => get("/metrics").catch(() => undefined);
    /** The page is read within a second and recorded within another. */
    const isSaid = async (expected: Readings) => {
      let left: string[] = [];
      for (const end_ms = performance.now() + 10_000; performance.now() < end_ms;) {
        left = await differences(run, expected);
        if (left.length === 0) return;
      }
      assert.deepEqual(left, []);
    };

    const rest = readPage((await until(isUp))!);
    await isSaid(rest);
    await isSaid(readPage(await get("/next")));
    const first = readPage(await get("/next"));
    assert.equal(first.size, series);
    await isSaid(first);
    await get("/restart");
    const again = readPage((await until(isUp))!);
    await isSaid(afterRestart(first, again));
    await isSaid(afterRestart(first, readPage(await get("/next"))));
    const { errors, metrics } = await readLocal(run);
    const reason = metrics.find(({ tags }) => tags.capture === "engine_metrics")!.tags.reason!;
    assert.match(reason, /each read is a line in its console without --/);
    assert.deepEqual(errors.filter(({ level }) => level === "error"), [], encode(errors));
  });
}
