/** The layout of the repository: rooms, the arrows between them, and what holds of whole rooms. */

import assert from "node:assert/strict";
import { ARROWS, circles, hasHeader, readFiles, readSources, ROOT, violations } from "./layout.ts";
import { temporaryDirectory } from "./temporary_directory.ts";

const TOPS = ["core", "local", "edge", "ffi"];
const FILES = (await Promise.all(TOPS.map((top) => readSources(top)))).flat();

Deno.test("files import only what their rooms allow", () => {
  const found = violations(FILES).map(({ path, imported }) => `${path} -> ${imported}`);
  assert.deepEqual(found, []);
});

Deno.test("every room has files", () => {
  for (const room of Object.keys(ARROWS)) {
    assert.ok(FILES.some(({ path }) => path === room || path.startsWith(`${room}/`)), room);
  }
});

Deno.test("no files import each other in a circle", () => {
  assert.deepEqual(circles(FILES), []);
});

/** Imports that are wrong in every room of a top-level folder, by file type. */
const WRONG: Record<string, [file: string, line: string][]> = {
  core: [["planted.ts", 'import "npm:left-pad";'], [
    "planted.ts",
    'export { x } from "/local/plan.ts";',
  ]],
  local: [["planted.ts", 'import { x } from "@libsql/client";'], [
    "planted.ts",
    'const x = await import("npm:left-pad");',
  ]],
  edge: [["planted.ts", 'import { Deep } from "npm:left-pad";']],
  ffi: [["planted.c", '#include "elsewhere/planted.h"'], [
    "planted.h",
    '  # include "elsewhere/planted.h"',
  ]],
};

/** Wrong imports for a room: those above, and every room without an arrow to it. */
function wrongLines(room: string): [file: string, line: string][] {
  const top = room.split("/")[0]!;
  const native = top === "ffi";
  const up = "../".repeat(room.split("/").length);
  const forbidden = Object.keys(ARROWS).filter((other) =>
    other !== room && !/\.\w+$/.test(other) && !ARROWS[room]!.includes(other)
  );
  return [
    ...WRONG[top]!,
    ...forbidden.map((other): [string, string] =>
      native
        ? ["planted.c", `#include "${up}${other}/planted.h"`]
        : ["planted.ts", `import type { X } from "${up}${other}/planted.ts";`]
    ),
  ];
}

for (const room of Object.keys(ARROWS).filter((room) => !/\.\w+$/.test(room))) {
  Deno.test(`a wrong import is found in ${room}`, async () => {
    await using directory = await temporaryDirectory();
    const root = `${directory.path}/`;
    await Deno.mkdir(root + room, { recursive: true });
    for (const [file, line] of wrongLines(room)) {
      await Deno.writeTextFile(`${root}${room}/${file}`, `/* A file. */\n${line}\n`);
      const found = violations(await readSources(room.split("/")[0]!, root));
      assert.deepEqual(found.map(({ path }) => path), [`${room}/${file}`], line);
      await Deno.remove(`${root}${room}/${file}`);
    }
  });
}

Deno.test("a file in a folder that is no room is found", async () => {
  await using directory = await temporaryDirectory();
  await Deno.mkdir(`${directory.path}/edge/attic`, { recursive: true });
  await Deno.writeTextFile(`${directory.path}/edge/attic/planted.ts`, "export {};\n");
  const found = violations(await readSources("edge", `${directory.path}/`));
  assert.deepEqual(found.map(({ path }) => path), ["edge/attic/planted.ts"]);
});

Deno.test("a circle of imports is found", () => {
  const file = (path: string, ...imports: string[]) => ({ path, text: "", imports });
  const files = [file("a.ts", "b.ts"), file("b.ts", "c.ts"), file("c.ts", "b.ts"), file("d.ts")];
  assert.deepEqual(circles(files), [["b.ts", "c.ts"]]);
});

Deno.test("every file begins with a sentence that says what it is", async () => {
  const folders = [...TOPS, "tests", "examples", "docs"];
  const files = (await Promise.all(folders.map((folder) => readFiles(folder)))).flat();
  files.push({ path: "mod.ts", text: await Deno.readTextFile(`${ROOT}mod.ts`), imports: [] });
  assert.deepEqual(files.filter(({ text }) => !hasHeader(text)).map(({ path }) => path), []);
});

Deno.test("a file that begins in another way is found", () => {
  for (const text of ["/** A file. */", "/* `name`: it. */", "/**\n * A file.\n */"]) {
    assert.ok(hasHeader(text), text);
  }
  for (
    const text of ["", "import x;", "\n/** A file. */", "// A file.", "/** a file. */", "/**\n */"]
  ) {
    assert.ok(!hasHeader(text), text);
  }
});

Deno.test("one file opens native code", () => {
  const opening = FILES.filter(({ path, text }) =>
    path.endsWith(".ts") && text.includes("Deno.dlopen")
  );
  assert.deepEqual(opening.map(({ path }) => path), ["local/base/native.ts"]);
});

Deno.test("in local the entries alone read and change the environment, and end the process", () => {
  const entries = ["local/main.ts", "local/watcher.ts"];
  const found = FILES.filter(({ path, text }) =>
    path.startsWith("local/") && /\bDeno\.(env|exit)\b/.test(text)
  );
  assert.deepEqual(found.map(({ path }) => path).sort(), entries);
});

Deno.test("core asks no clock, no random numbers and no platform", () => {
  for (const { path, text } of FILES.filter(({ path }) => path.startsWith("core/"))) {
    assert.doesNotMatch(
      text,
      /\bDeno\.|Date\.now|new Date(?!\(\w)|performance\.|Math\.random|\bfetch\(/,
      path,
    );
  }
});

Deno.test("the published versions agree, and the README names the Deno that runs here", async () => {
  const version = async (path: string) => JSON.parse(await Deno.readTextFile(ROOT + path)).version;
  assert.equal(await version("core/deno.json"), await version("deno.json"));
  const pinned = /deno@(\d+\.\d+\.\d+) task test/.exec(await Deno.readTextFile(`${ROOT}README.md`));
  assert.equal(Deno.version.deno, pinned?.[1]);
});
