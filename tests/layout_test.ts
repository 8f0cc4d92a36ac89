import assert from "node:assert/strict";

const ROOT = new URL("..", import.meta.url).pathname;

interface SourceFile {
  path: string;
  text: string;
  /** What it imports, relative paths resolved against the root. */
  imports: string[];
}

async function sources(room: string): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const { name } of Deno.readDir(`${ROOT}${room}`)) {
    if (!name.endsWith(".ts") || name.endsWith("_test.ts") || name.startsWith("_")) continue;
    const path = `${room}/${name}`;
    const text = await Deno.readTextFile(ROOT + path);
    const imports = Array.from(
      text.matchAll(/^(?:import|export|\}).* from "([^"]+)"|\bimport\("([^"]+)"\)/gm),
      ([, from, dynamic]) => {
        const specifier = (from ?? dynamic)!;
        return specifier.startsWith(".")
          ? new URL(specifier, `file:///${path}`).pathname.slice(1)
          : specifier;
      },
    );
    files.push({ path, text, imports });
  }
  assert(files.length > 0);
  return files;
}

/** What files of each room may import: paths of the repository, and packages. */
const ALLOWED: Record<string, RegExp> = {
  core: /^core\//,
  local: /^(local\/|deno\.json$|@service\/core(\/|$)|node:)/,
  edge: /^(edge\/|@service\/core(\/|$)|node:|hono(\/|$)|@libsql\/|libsql$)/,
};

for (const [room, allowed] of Object.entries(ALLOWED)) {
  Deno.test(`${room} imports only what its place allows`, async () => {
    for (const { path, imports } of await sources(room)) {
      for (const specifier of imports) assert.match(specifier, allowed, path);
    }
  });
}

Deno.test("one file opens native code", async () => {
  const files = [...await sources("core"), ...await sources("local"), ...await sources("edge")];
  const opening = files.filter(({ text }) => text.includes("Deno.dlopen")).map(({ path }) => path);
  assert.deepEqual(opening, ["local/base/native.ts"]);
});

Deno.test("core asks no clock, no random numbers and no platform", async () => {
  for (const { path, text } of await sources("core")) {
    assert.doesNotMatch(
      text,
      /\bDeno\.|Date\.now|new Date|performance\.|Math\.random|\bfetch\(/,
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
