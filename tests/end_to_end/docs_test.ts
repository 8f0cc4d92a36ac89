/** Tests of the pages in docs/ and the README: the files and tests that they name exist. */

import assert from "node:assert/strict";
import { metricsPage } from "../../docs/metrics.ts";

const ROOT = new URL("../../", import.meta.url);
const FOLDERS = ["core", "local", "edge", "ffi", "tests", "docs", "examples"];

/** Files that tasks write, and that may not be in the checkout. */
const GENERATED = /^(ffi\/build|tests\/bench\/results\.json)/;

const pages = ["README.md"];
for await (const { name } of Deno.readDir(new URL("docs", ROOT))) {
  if (name.endsWith(".md")) pages.push(`docs/${name}`);
}

Deno.test("docs/metrics.md equals the catalogue (deno run -A docs/metrics.ts writes it)", async () => {
  assert.equal(await read("docs/metrics.md"), metricsPage());
});

for (const page of pages) {
  Deno.test(`${page} links to and names only files that exist`, async () => {
    const text = await read(page);
    const links = Array.from(
      text.matchAll(/\]\(([^)#:]+)[^):]*\)/g),
      ([, path]) => new URL(path!, new URL(page, ROOT)),
    );
    const paths = Array.from(text.matchAll(/`([\w.-]+\/[\w./-]*)`/g), ([, path]) => path!)
      .filter((path) => FOLDERS.includes(path.split("/")[0]!) && !GENERATED.test(path))
      .map((path) => new URL(path, ROOT));
    for (const url of [...links, ...paths]) {
      await Deno.stat(url).catch(() => assert.fail(`${page} names ${url.pathname}`));
    }
  });
}

Deno.test("docs/cuda-capture.md names only tests that exist", async () => {
  const [, table = ""] = (await read("docs/cuda-capture.md")).split("## Pitfalls and their tests");
  const cells = table.split("\n").filter((line) => line.startsWith("| ")).slice(1);
  const named = cells.flatMap((line) =>
    Array.from(line.split(" | ")[1]!.matchAll(/`([^`]+)`/g), ([, name]) => name!)
  ).filter((name) => !/^[\w/]+\.\w+$/.test(name));
  const known = await testNames();
  assert(named.length > 20);
  assert.deepEqual(named.filter((name) => !known.has(name)), []);
});

/** Names of the tests of CUDA capture, with `…` for each part that varies. */
async function testNames(): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const { name } of Deno.readDir(new URL("tests/end_to_end", ROOT))) {
    if (!/^cuda.*_test\.ts$/.test(name)) continue;
    const text = await read(`tests/end_to_end/${name}`);
    for (const [, , test] of text.matchAll(/(?:\btest\(\s*|\bname: )(["`])(.+?)\1/g)) {
      names.add(test!.replaceAll(/\$\{[^}]*\}/g, "…"));
    }
  }
  return names;
}

async function read(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, ROOT));
}
