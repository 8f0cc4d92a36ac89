/**
 * `deno task native`: builds what is newer than its products, where there is a C compiler. With
 * `--package` also for the other platforms of the published package, and the files that carry it all.
 */

import { writePackage } from "./package.ts";

const HERE = decodeURIComponent(new URL("./", import.meta.url).pathname);

/** Where the products for this machine are; those for others are in a folder of this one. */
export const BUILD = `${HERE}build`;

const FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"];

/** Flags of what is loaded into programs of others: it must not disturb them, nor ever be unloaded. */
const GUEST = [
  ...["-shared", "-fPIC", "-fvisibility=hidden", "-static-libgcc"],
  ...["-D_GNU_SOURCE=", "-include", `${HERE}glibc.h`],
  ...["-Wl,-Bsymbolic", "-Wl,-z,nodelete", "-Wl,-z,now", "-Wl,-z,defs"],
];

/** Where an old glibc has what a new one has in libc; empty files there. */
const OLD_HOMES = ["-Wl,--no-as-needed", "-l:libdl.so.2", "-l:libpthread.so.0"];

/** For aarch64 alone: atomics that need no constructor of the compiler's to choose among them. */
const INLINE_ATOMICS = "-mno-outline-atomics";

/** What one file is made of. */
export interface Product {
  sources: string[];
  flags: string[];
  /** Flags at the end, the best first: others are tried where a system lacks what these need. */
  ways: string[][];
  /** Whether musl's compiler is preferred: what it links starts sooner and is ten times smaller. */
  musl?: boolean;
}

/** What is built. */
export const PRODUCTS: Record<string, Product> = {
  "service-supervisor": {
    sources: [
      "supervisor/descriptors.c",
      "supervisor/ends.c",
      "supervisor/follower.c",
      "supervisor/main.c",
      "supervisor/processes.c",
      "supervisor/pump.c",
      "supervisor/ring.c",
      "supervisor/signals.c",
      "supervisor/streams.c",
      "supervisor/terminal.c",
    ],
    flags: ["-s"],
    ways: [["-static", "-Wl,--fatal-warnings"], []],
    musl: true,
  },
  "libservice.so": {
    sources: [
      "activity/accounts.c",
      "activity/busy.c",
      "activity/collector.c",
      "activity/durations.c",
      "activity/overhead.c",
      "activity/states.c",
      "activity/symbols.c",
      "cuda/buffers.c",
      "cuda/device_names.c",
      "cuda/graph_cells.c",
      "cuda/graph_ids.c",
      "cuda/graph_shape.c",
      "cuda/graphs.c",
      "cuda/injection.c",
      "cuda/library.c",
      "cuda/other_client.c",
      "cuda/records.c",
      "cuda/source.c",
      "cuda/subscription.c",
      "cuda/waits.c",
      "exec.c",
      "segment/ask.c",
      "segment/file.c",
      "segment/segment.c",
      "segment/tables.c",
      "sources.c",
    ],
    flags: GUEST,
    ways: [[INLINE_ATOMICS, ...OLD_HOMES], OLD_HOMES, []],
  },
};

/** What the published package is built for. */
export const ARCHITECTURES = ["x86_64", "aarch64"];

/** Folder of the products for an architecture. */
export function folderFor(architecture: string): string {
  return architecture === Deno.build.arch ? BUILD : `${BUILD}/${architecture}`;
}

/** The C compiler for an architecture, or `undefined` where there is none. */
export function compilerFor(architecture: string): string | undefined {
  const cross = `${architecture}-linux-gnu-gcc`;
  return (architecture === Deno.build.arch ? ["cc", "gcc", "clang"] : [cross]).find(isThere);
}

/** Makes one product; throws what the compiler says where none of the ways leads there. */
export async function compile(
  { sources, flags, ways }: Product,
  { compilers, output }: { compilers: string[]; output: string },
): Promise<void> {
  // Whole or not at all: another process may be starting it.
  const made = `${output}.${Deno.pid}`;
  const files = sources.map((name) => HERE + name);
  let said = "";
  for (const way of ways) {
    for (const compiler of compilers) {
      const args = [...FLAGS, ...flags, ...files, ...way, "-o", made];
      const { success, stderr } = await new Deno.Command(compiler, { args }).output();
      if (success) return await Deno.rename(made, output);
      said = new TextDecoder().decode(stderr);
    }
  }
  throw new Error(`Cannot build ${output}:\n${said}`);
}

async function buildFor(architecture: string): Promise<boolean> {
  const compiler = compilerFor(architecture);
  const musl = `${architecture}-linux-musl-gcc`;
  const folder = folderFor(architecture);
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, product] of Object.entries(PRODUCTS)) {
    const output = `${folder}/${name}`;
    if (modified(output) > newestSource()) continue;
    if (!compiler) return false;
    const compilers = product.musl && isThere(musl) ? [musl, compiler] : [compiler];
    await compile(product, { compilers, output });
  }
  return true;
}

function isThere(compiler: string): boolean {
  try {
    return new Deno.Command(compiler, { args: ["--version"] }).outputSync().success;
  } catch {
    return false;
  }
}

/** When a source below `folder`, or the build itself, last changed, in ms since the epoch. */
export function newestSource(folder = HERE): number {
  let newest = 0;
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}${name}`;
    if (isDirectory && path !== BUILD) newest = Math.max(newest, newestSource(`${path}/`));
    else if (/\.[ch]$|^build\.ts$/.test(name)) newest = Math.max(newest, modified(path));
  }
  return newest;
}

function modified(path: string): number {
  try {
    return Deno.statSync(path).mtime?.getTime() ?? 0;
  } catch {
    return 0;
  }
}

async function main(): Promise<void> {
  if (Deno.build.os !== "linux") return console.error("native: nothing to build for this platform");
  const packaged = Deno.args.includes("--package");
  const folder = `${BUILD}/package`;
  for (const architecture of packaged ? ARCHITECTURES : [Deno.build.arch]) {
    if (!await buildFor(architecture)) {
      console.error(`native: no C compiler for ${architecture}: nothing is built for it`);
      // What is there of an earlier time is not of these sources.
      if (packaged) await Deno.remove(`${folder}/${architecture}.ts`).catch(() => {});
    } else if (packaged) {
      await writePackage(architecture, {
        folder,
        products: Object.keys(PRODUCTS).map((name) => `${folderFor(architecture)}/${name}`),
      });
    }
  }
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}
