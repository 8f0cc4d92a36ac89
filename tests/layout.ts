/**
 * Rooms of the repository and the arrows between them: which room's files may import which.
 * `deno run -A tests/layout.ts` counts the imports between rooms.
 */

/** A source file and its imports. */
export interface SourceFile {
  /** Path from the repository's root. */
  path: string;
  text: string;
  /** Imported files as paths from the root, packages as they are named. */
  imports: string[];
}

/** An import that no arrow allows. */
export interface Violation {
  path: string;
  imported: string;
}

/** Where the repository is. */
export const ROOT: string = decodeURIComponent(new URL("..", import.meta.url).pathname);

/** What all files below a top folder may import. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  local: ["deno.json", "@service/core", "node:"],
  edge: ["edge/deno.json", "@service/core", "node:"],
  ffi: ["ffi/export.h", "node:"],
};

/**
 * What the files of each room may import beside those of their own room: rooms, files, packages. A room
 * is a folder without its subfolders, or a single file; rooms not listed have no source files.
 */
export const ARROWS: Readonly<Record<string, readonly string[]>> = {
  "core": ["core/catalogue", "core/series", "core/packed"],
  "core/series": ["core"],
  "core/catalogue": ["core"],
  "core/packed": ["core", "core/series"],
  "core/names": ["core", "core/names/itanium", "core/names/kernels"],
  "core/names/itanium": [],
  "core/names/kernels": ["core/names/itanium"],
  "core/facts": ["core", "core/series", "core/names", "core/catalogue"],
  "core/findings": ["core", "core/facts", "core/names", "core/catalogue"],
  "core/context": [
    "core",
    "core/series",
    "core/facts",
    "core/findings",
    "core/names",
    "core/catalogue",
  ],

  "local": [
    ...["local/plan.ts", "local/launch", "local/launch/fallback.ts", "local/watch", "local/cli"],
    ...["local/serve", "local/sources/console", "local/sources/proc", "local/base"],
  ],
  "local/cli": ["local/runs", "local/base"],
  "local/plan.ts": ["local/engines", "local/serve"],
  "local/launch": [
    ...["local/plan.ts", "local/engines", "local/serve", "local/base"],
    ...["local/sources/console/needles.ts"],
  ],
  "local/launch/fallback.ts": [
    ...["local/launch", "local/plan.ts", "local/watch", "local/serve", "local/base"],
  ],
  "local/engines": ["local/base"],
  "local/watch": [
    ...["local/plan.ts", "local/engines", "local/serve", "local/upload", "local/runs"],
    ...["local/base", "local/sources"],
    ...["local/sources/activity", "local/sources/console", "local/sources/devices"],
    ...["local/sources/console/needles.ts"],
    ...["local/sources/proc", "local/sources/prometheus"],
  ],
  "local/sources": ["local/base"],
  "local/sources/activity": ["local/sources/segments", "local/sources", "local/base"],
  "local/sources/devices": ["local/sources/segments", "local/sources", "local/base"],
  "local/sources/segments": ["local/base"],
  "local/sources/console": [
    ...["local/sources/console/formats", "local/sources/console/needles.ts"],
    ...["local/sources", "local/base"],
  ],
  "local/sources/console/needles.ts": [],
  "local/sources/console/formats": ["local/sources/console"],
  "local/sources/proc": ["local/sources", "local/base"],
  "local/sources/prometheus": ["local/sources", "local/base"],
  "local/serve": ["local/base"],
  "local/upload": ["local/runs", "local/sources", "local/base"],
  "local/runs": ["local/sources", "local/base"],
  "local/base": [],

  "edge": [
    ...["edge/routes", "edge/http", "edge/windows", "edge/tenancy", "edge/move", "edge/database"],
    ...["edge/version.ts", "hono"],
  ],
  "edge/version.ts": [],
  "edge/routes": [
    ...["edge/http", "edge/windows", "edge/tenancy", "edge/move"],
    ...["edge/version.ts", "hono"],
  ],
  "edge/http": ["edge/tenancy", "edge/windows", "edge/database", "hono"],
  "edge/move": ["edge/tenancy", "edge/database"],
  "edge/windows": ["edge/database"],
  "edge/tenancy": ["edge/database"],
  "edge/database": ["@libsql/client", "libsql"],

  "ffi": [],
  "ffi/sources.c": ["ffi/cuda", "ffi/activity"],
  "ffi/supervisor": [],
  "ffi/cuda": ["ffi/activity", "ffi/segment"],
  "ffi/activity": ["ffi/segment"],
  "ffi/devices": ["ffi/segment"],
  "ffi/segment": [],
  "ffi/export.h": [],
};

/** Files of the product below `room` in the repository at `root`, in subfolders too. */
export async function readSources(room: string, root: string = ROOT): Promise<SourceFile[]> {
  const files = await readFiles(room, root);
  return files.filter(({ path }) => !/_test\.\w+$|^edge\/testing\//.test(path));
}

/** Files in TypeScript and C below `folder`, tests too, without generated files and test data. */
export async function readFiles(folder: string, root: string = ROOT): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${root}${folder}`)) {
    const path = `${folder}/${name}`;
    if (path === "ffi/build" || name === "testdata") continue;
    if (isDirectory) files.push(...await readFiles(path, root));
    else if (/\.(ts|c|h)$/.test(name)) {
      files.push(toSource(path, await Deno.readTextFile(root + path)));
    }
  }
  return files;
}

/** Whether a text begins with a comment, and that with a capital letter or a backtick. */
export function hasHeader(text: string): boolean {
  return /^\/\*\*?(\n \*)? [A-Z`]/.test(text);
}

/** The file's imports: TypeScript's static and dynamic ones, C's quoted includes. */
function toSource(path: string, text: string): SourceFile {
  const pattern = path.endsWith(".ts")
    ? /^(?:import|export|\}).* from "([^"]+)"|^import "([^"]+)"|\bimport\(\s*"([^"]+)"\)/gm
    : /^\s*#\s*include "([^"]+)"/gm;
  const imports = Array.from(text.matchAll(pattern), (match) => {
    const specifier = match.slice(1).find((group) => group !== undefined)!;
    return specifier.startsWith(".") || !path.endsWith(".ts")
      ? new URL(specifier, `file:///${path}`).pathname.slice(1)
      : specifier;
  });
  return { path, text, imports };
}

/** The room of a source file: the file itself if it is listed, else its folder. Other paths: unchanged. */
export function roomOf(path: string): string {
  if (path in ARROWS || !/\.(ts|c|h)$/.test(path)) return path;
  const folder = path.replace(/\/?[^/]*$/, "");
  return folder in ARROWS ? folder : path;
}

/** The imports that no arrow allows, and files in no room. */
export function violations(files: readonly SourceFile[]): Violation[] {
  return files.flatMap(({ path, imports }) => {
    const room = roomOf(path);
    if (!(room in ARROWS)) return [{ path, imported: "is in no room" }];
    return imports.filter((imported) => !mayImport(path, imported))
      .map((imported) => ({ path, imported }));
  });
}

function mayImport(path: string, imported: string): boolean {
  const room = roomOf(path);
  // The entry of a package lists its published names.
  if (path === "core/mod.ts" && imported.startsWith("core/")) return true;
  const allowed = [room, ...ARROWS[room]!, ...SHARED[path.split("/")[0]!]!];
  return allowed.includes(roomOf(imported)) ||
    allowed.some((name) => !name.includes(".") && isPartOf(imported, name));
}

/** Whether a specifier names the package, or something in it. */
function isPartOf(specifier: string, name: string): boolean {
  if (/^(core|local|edge|ffi)(\/|$)/.test(name)) return false;
  return name.endsWith(":") ? specifier.startsWith(name) : specifier === name ||
    specifier.startsWith(`${name}/`);
}

/** Groups of files that import each other, directly or not. */
export function circles(files: readonly SourceFile[]): string[][] {
  const importsOf = new Map(files.map(({ path, imports }) => [path, imports]));
  const found: string[][] = [];
  const left = new Set<string>();
  function visit(path: string, trail: string[]): void {
    const start = trail.indexOf(path);
    if (start >= 0) found.push(trail.slice(start));
    if (start >= 0 || left.has(path)) return;
    for (const imported of importsOf.get(path) ?? []) visit(imported, [...trail, path]);
    left.add(path);
  }
  for (const { path } of files) visit(path, []);
  return found;
}

if (import.meta.main) {
  const counts = new Map<string, number>();
  for (const top of ["core", "local", "edge", "ffi"]) {
    for (const { path, imports } of await readSources(top)) {
      for (const imported of imports) {
        const arrow = `${roomOf(path)} -> ${roomOf(imported)}`;
        if (roomOf(path) !== roomOf(imported)) counts.set(arrow, (counts.get(arrow) ?? 0) + 1);
      }
    }
  }
  for (const [arrow, count] of [...counts].sort()) console.log(String(count).padStart(5), arrow);
}
