/** Tests of the pages in docs/ and the README: the files and tests that they name exist. */

import assert from "node:assert/strict";
import { readFiles } from "../layout.ts";
import { testNames } from "../test_names.ts";
import { withCorpusTable } from "../../docs/console.ts";
import { metricsPage } from "../../docs/metrics.ts";

const ROOT = new URL("../../", import.meta.url);
const FOLDERS = ["core", "local", "edge", "ffi", "tests", "docs", "examples"];

/** Files that tasks write, and that may not be in the checkout. */
const GENERATED = /^(ffi\/build|tests\/bench\/results\.json)/;

const pages = ["README.md"];
for await (const { name } of Deno.readDir(new URL("docs", ROOT))) {
  if (name.endsWith(".md")) pages.push(`docs/${name}`);
}

Deno.test("docs/profiling.md has the corpus' figures (deno run -A docs/console.ts writes them)", async () => {
  const text = await Deno.readTextFile(new URL("docs/profiling.md", ROOT));
  assert.match(text, /^\| Lines that are /m);
  assert.equal(text, withCorpusTable(text));
});

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

/** Pages with a table of pitfalls, and the files with the tests that it names. */
const PITFALLS: Record<string, RegExp> = {
  "docs/cuda-capture.md": /^tests\/end_to_end\/cuda.*_test\.ts$/,
  "docs/devices.md":
    /^(tests\/end_to_end\/devices|tests\/doubles\/nvml(_strict)?\/.*|local\/sources\/devices\/.*)(_test|scenarios)\.ts$/,
};

for (const [page, files] of Object.entries(PITFALLS)) {
  Deno.test(`${page} names only tests that exist`, async () => {
    const [, table = ""] = (await read(page)).split("## Pitfalls and their tests");
    const cells = table.split("\n").filter((line) => line.startsWith("| ")).slice(1);
    const named = cells.flatMap((line) =>
      Array.from(line.split(" | ")[1]!.matchAll(/`([^`]+)`/g), ([, name]) => name!)
    ).filter((name) => !/^[\w/]+\.\w+$/.test(name));
    const known = await namesIn(files);
    assert(named.length > 15);
    assert.deepEqual(named.filter((name) => !known.has(name)), []);
  });
}

/** Names of the tests in `files`, with `…` for each part that varies. */
async function namesIn(files: RegExp): Promise<Set<string>> {
  const names = new Set<string>();
  for (const { path, text } of [...await readFiles("tests"), ...await readFiles("local")]) {
    if (!files.test(path)) continue;
    for (const name of testNames(text, ["name", "says"])) names.add(name);
  }
  return names;
}

async function read(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, ROOT));
}
