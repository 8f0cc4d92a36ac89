/** Build of the fakes and the workload, once for all test files that run together. */

import { PRODUCTS } from "../../../ffi/products.ts";
import { command } from "../../command.ts";
import { SHARED_BUILDS } from "../../suites.ts";
import { missingCompiler } from "../../skipping.ts";

const FFI = new URL("../../../ffi/", import.meta.url).pathname;
const HERE = new URL("./", import.meta.url).pathname;
const TOY = new URL("../toy/", import.meta.url).pathname;
const FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-g"];
/** Flags of a library. */
export const SHARED: string[] = ["-shared", "-fPIC", "-fvisibility=hidden"];

/** Name of the driver's library. */
export const DRIVER = "libcuda.so.1";

/** Toolkits with a fake CUPTI, and the name of its library. */
export const TOOLKITS = {
  "11.8": "libcupti.so.11.8",
  "12.1": "libcupti.so.12",
  "12.4": "libcupti.so.12",
  "12.8": "libcupti.so.12",
  "13.0": "libcupti.so.13",
  "13.5": "libcupti.so.13",
} as const;
export type Toolkit = keyof typeof TOOLKITS;

/** Sanitizers for a program and the libraries that it loads. */
export type Sanitizer = "address,undefined" | "thread";

/** Path of a C compiler, or `null`. */
export const compiler: string | null = findCompiler();

const builds = new Map<string, Promise<string>>();
let directory: string | undefined;

/** Path of the program that runs scenarios. */
export function workload(sanitizer?: Sanitizer): Promise<string> {
  return once("workload", [folderOf(sanitizer)], async (path) => {
    await compile(path, await sources("workload"), watchedBy(sanitizer));
  });
}

/** Options for the build of the collector's library. */
export interface LibraryOptions {
  /** Sanitizer of the library; the workload must have the same. */
  sanitizer?: Sanitizer;
  /** With the toy as a second row in its table of sources. */
  toy?: boolean;
}

/** Path of the collector's library. */
export function testedLibrary({ sanitizer, toy }: LibraryOptions): Promise<string> {
  return once("libservice.so", [folderOf(sanitizer), toy ? "toy" : "own"], async (path) => {
    const { sources } = PRODUCTS["libservice.so"]!;
    const files = sources.filter((name) => !toy || name !== "sources.c").map((name) => FFI + name);
    if (toy) files.push(`${TOY}sources.c`, `${TOY}toy.c`);
    // The product's build checks warnings; sanitizers add warnings of their own.
    await compile(path, files, [
      ...[...SHARED, ...watchedBy(sanitizer), "-w", "-include", `${FFI}glibc.h`],
      ...["-Wl,-Bsymbolic", "-Wl,-z,nodelete"],
    ]);
  });
}

/** The reason why the sanitizer is not available here, or `null`. */
export async function missingSanitizer(sanitizer: Sanitizer): Promise<string | null> {
  return missingCompiler(compiler) ??
    (await canWatch(sanitizer) ? null : `no -fsanitize=${sanitizer}`);
}

async function canWatch(sanitizer: Sanitizer): Promise<boolean> {
  try {
    const program = await once("nothing", [folderOf(sanitizer)], async (path) => {
      await Deno.writeTextFile(`${path}.c`, "int main(void) { return 0; }\n");
      await compile(path, [`${path}.c`], watchedBy(sanitizer));
    });
    return (await command([program]).output()).success;
  } catch {
    return false;
  }
}

/** The folder for a sanitizer's builds; without commas: they separate flags of the linker. */
export function folderOf(sanitizer: Sanitizer | undefined): string {
  return sanitizer?.replace(",", "-") ?? "plain";
}

/** Flags of a sanitizer, which come last: without optimization they compile in half the time. */
export function watchedBy(sanitizer: Sanitizer | undefined): string[] {
  return sanitizer ? [`-fsanitize=${sanitizer}`, "-fno-sanitize-recover=undefined", "-O0"] : [];
}

/** Path of another tool that `CUDA_INJECTION64_PATH` can name. */
export function otherTool(): Promise<string> {
  return once("libtool.so", [], async (path) => {
    await compile(path, [`${HERE}fake_tool.c`], SHARED);
  });
}

/** A directory with the fake driver, and the fake CUPTI of `toolkit` if there is one. */
export async function libraries(toolkit: Toolkit | null, sanitizer?: Sanitizer): Promise<string> {
  const folders = [folderOf(sanitizer), toolkit ?? "none"];
  const flags = [...SHARED, ...watchedBy(sanitizer)];
  const driver = await once(DRIVER, [folderOf(sanitizer)], async (path) => {
    await compile(path, await sources("fake_cuda"), [...flags, `-Wl,-soname,${DRIVER}`]);
  });
  await once(DRIVER, folders, (path) => Deno.link(driver, path));
  if (toolkit) {
    await once(TOOLKITS[toolkit], folders, (path) => compileCupti(path, { toolkit, flags }));
  }
  return [root(), ...folders].join("/");
}

async function compileCupti(
  path: string,
  { toolkit, flags }: { toolkit: Toolkit; flags: string[] },
): Promise<void> {
  const soname = TOOLKITS[toolkit];
  const versions = `${path}.map`;
  await Deno.writeTextFile(versions, `${soname} { global: cupti*; local: *; };\n`);
  const [major, minor] = toolkit.split(".");
  await compile(path, await sources("fake_cupti"), [
    ...flags,
    `-DFAKE_CUPTI=${major}${minor!.padStart(2, "0")}`,
    `-Wl,-soname,${soname}`,
    `-Wl,--version-script=${versions}`,
  ]);
}

async function sources(prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(HERE)) {
    if (name.startsWith(prefix) && name.endsWith(".c")) names.push(HERE + name);
  }
  return names;
}

/** The file that `make` makes in the folder of builds, made once. */
export function once(name: string, folders: string[], make: (path: string) => Promise<void>) {
  const path = [root(), ...folders, name].join("/");
  const known = builds.get(path);
  if (known) return known;
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  const making = makeUnlessMade(path, make);
  builds.set(path, making);
  return making;
}

/** Other test files may share the folder: the first one makes the file, and they wait for it. */
async function makeUnlessMade(path: string, make: (path: string) => Promise<void>) {
  using lock = await Deno.open(`${path}.lock`, { create: true, write: true });
  await lock.lock(true);
  if (!await exists(path)) {
    await make(`${path}.new`);
    await Deno.rename(`${path}.new`, path);
  }
  return path;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/** Where all test files of a run of the suites build, or a folder of this file alone. */
function root(): string {
  directory ??= Deno.env.get(SHARED_BUILDS);
  if (directory) return directory;
  const created = directory = Deno.makeTempDirSync({ prefix: "service-test-cuda-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(created, { recursive: true }));
  return created;
}

/** Compiles C files. */
export async function compile(path: string, files: string[], flags: string[]): Promise<void> {
  const args = [...FLAGS, ...flags, ...files, "-o", path];
  const { success, stderr } = await command([compiler!, ...args, "-ldl", "-lpthread"]).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

function findCompiler(): string | null {
  for (const name of ["cc", "gcc", "clang"]) {
    try {
      if (command([name, "--version"]).outputSync().success) return name;
    } catch {
      // Not this one.
    }
  }
  return null;
}
