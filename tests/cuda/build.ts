/** Compiles the fakes and the workload, once for each run of the tests. */

const HERE = new URL("./", import.meta.url).pathname;
const FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-g"];
const SHARED = ["-shared", "-fPIC", "-fvisibility=hidden"];

/** Toolkits whose CUPTI there is a fake of, and the name of its library. */
export const TOOLKITS = {
  "11.8": "libcupti.so.11.8",
  "12.1": "libcupti.so.12",
  "12.4": "libcupti.so.12",
  "12.8": "libcupti.so.12",
  "13.0": "libcupti.so.13",
} as const;
export type Toolkit = keyof typeof TOOLKITS;

/** Where a C compiler is, or `null`. */
export const compiler: string | null = findCompiler();

const made = new Map<string, Promise<string>>();
let directory: string | undefined;

/** Path of the program that runs scenarios. */
export function workload(): Promise<string> {
  return once("workload", [], async (path) => {
    await compile(path, await sources("workload"), []);
  });
}

/** Path of another tool that `CUDA_INJECTION64_PATH` can name. */
export function otherTool(): Promise<string> {
  return once("libtool.so", [], async (path) => {
    await compile(path, ["fake_tool.c"], SHARED);
  });
}

/** A directory with a driver, and the CUPTI of a toolkit where one is named. */
export async function libraries(toolkit: Toolkit | null): Promise<string> {
  const folder = toolkit ?? "none";
  await once("libcuda.so.1", [folder], async (path) => {
    await compile(path, ["fake_cuda.c", "fake_cuda_graphs.c"], [
      ...SHARED,
      "-Wl,-soname,libcuda.so.1",
    ]);
  });
  if (toolkit) await once(TOOLKITS[toolkit], [folder], (path) => compileCupti(path, toolkit));
  return `${root()}/${folder}`;
}

async function compileCupti(path: string, toolkit: Toolkit): Promise<void> {
  const soname = TOOLKITS[toolkit];
  const versions = `${path}.map`;
  await Deno.writeTextFile(versions, `${soname} { global: cupti*; local: *; };\n`);
  const [major, minor] = toolkit.split(".");
  await compile(path, await sources("fake_cupti"), [
    ...SHARED,
    `-DFAKE_CUPTI=${major}${minor!.padStart(2, "0")}`,
    `-Wl,-soname,${soname}`,
    `-Wl,--version-script=${versions}`,
  ]);
}

async function sources(prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(HERE)) {
    if (name.startsWith(prefix) && name.endsWith(".c")) names.push(name);
  }
  return names;
}

function once(name: string, folders: string[], make: (path: string) => Promise<void>) {
  const path = [root(), ...folders, name].join("/");
  const known = made.get(path);
  if (known) return known;
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  const making = make(path).then(() => path);
  made.set(path, making);
  return making;
}

function root(): string {
  if (directory) return directory;
  const created = directory = Deno.makeTempDirSync({ prefix: "service-test-cuda-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(created, { recursive: true }));
  return created;
}

async function compile(path: string, names: string[], flags: string[]): Promise<void> {
  const args = [...FLAGS, ...flags, ...names.map((name) => HERE + name), "-o", path];
  const { success, stderr } = await new Deno.Command(compiler!, {
    args: [...args, "-ldl", "-lpthread"],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

function findCompiler(): string | null {
  for (const name of ["cc", "gcc", "clang"]) {
    try {
      if (new Deno.Command(name, { args: ["--version"] }).outputSync().success) return name;
    } catch {
      // Not this one.
    }
  }
  return null;
}
