/**
 * Build of the native files, `deno task native`: compiles the products that are older than the sources,
 * if there is a C compiler. With `--package` also for the other architectures of the published package,
 * and the modules that carry the products in it.
 */

import { writePackage } from "./package.ts";
import { type Product, PRODUCTS } from "./products.ts";

const HERE = decodeURIComponent(new URL("./", import.meta.url).pathname);

/** Folder of the products for this machine; those for other architectures are in folders of it. */
export const BUILD = `${HERE}build`;

const FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"];

/** Architectures of the published package. */
export const ARCHITECTURES = ["x86_64", "aarch64"];

/** Folder of the products for an architecture. */
export function folderFor(architecture: string): string {
  return architecture === Deno.build.arch ? BUILD : `${BUILD}/${architecture}`;
}

/** The C compiler for an architecture, or `undefined` if there is none. */
export function compilerFor(architecture: string): string | undefined {
  const cross = `${architecture}-linux-gnu-gcc`;
  return (architecture === Deno.build.arch ? ["cc", "gcc", "clang"] : [cross]).find(isInstalled);
}

/** The compilers to try, in order, and the file to write. */
export interface CompileOptions {
  compilers: string[];
  output: string;
}

/**
 * Compiles one product with the first fallback and compiler that can.
 *
 * @throws {Error} If none can, with the compiler's message.
 */
export async function compile(product: Product, options: CompileOptions): Promise<void> {
  const { compilers, output } = options;
  // Renamed when complete: another process may be starting it.
  const temporary = `${output}.${Deno.pid}`;
  const files = product.sources.map((path) => HERE + path);
  let message = "";
  for (const fallback of product.fallbacks) {
    for (const compiler of compilers) {
      const args = [...FLAGS, ...product.flags, ...files, ...fallback, "-o", temporary];
      const { success, stderr } = await new Deno.Command(compiler, { args }).output();
      if (success) return await Deno.rename(temporary, output);
      message = new TextDecoder().decode(stderr);
    }
  }
  throw new Error(`Cannot build ${output}:\n${message}`);
}

/** Builds the outdated products for an architecture; false: there is no compiler. */
async function buildFor(architecture: string): Promise<boolean> {
  const compiler = compilerFor(architecture);
  const musl = `${architecture}-linux-musl-gcc`;
  const folder = folderFor(architecture);
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, product] of Object.entries(PRODUCTS)) {
    const output = `${folder}/${name}`;
    if (modifiedMs(output) > newestSource()) continue;
    if (!compiler) return false;
    const compilers = product.musl && isInstalled(musl) ? [musl, compiler] : [compiler];
    await compile(product, { compilers, output });
  }
  return true;
}

function isInstalled(compiler: string): boolean {
  try {
    return new Deno.Command(compiler, { args: ["--version"] }).outputSync().success;
  } catch {
    return false;
  }
}

/** Time of the last change to a C source or a build file below `folder`, in ms since the epoch. */
export function newestSource(folder = HERE): number {
  let newest = 0;
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}${name}`;
    if (isDirectory && path !== BUILD) newest = Math.max(newest, newestSource(`${path}/`));
    else if (/\.[ch]$|^(build|products)\.ts$/.test(name)) {
      newest = Math.max(newest, modifiedMs(path));
    }
  }
  return newest;
}

function modifiedMs(path: string): number {
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
      // A module of an earlier build is not of these sources.
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
