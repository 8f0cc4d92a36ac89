/** `deno task native`: builds what is newer than its products, where there is a C compiler. */

const HERE = new URL("./", import.meta.url).pathname;
const COMPILERS = ["cc", "gcc", "clang"];
const FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"];

/** What is built, and from which sources. */
const PRODUCTS: Record<string, { sources: string[]; flags: string[] }> = {
  "service-supervisor": {
    sources: ["supervisor.c", "pump.c", "ring.c", "start.c", "terminal.c"],
    flags: [],
  },
  "libservice.so": { sources: ["service.c", "segment_ask.c"], flags: ["-shared", "-fPIC"] },
};

if (import.meta.main) {
  if (Deno.build.os !== "linux") {
    console.error("native: nothing to build for this platform");
    Deno.exit(0);
  }
  const newest = newestSource();
  for (const [product, { sources, flags }] of Object.entries(PRODUCTS)) {
    if (modified(`${HERE}build/${product}`) > newest) continue;
    await build(product, [...FLAGS, ...flags, ...sources.map((name) => HERE + name)]);
  }
}

async function build(product: string, args: string[]): Promise<void> {
  await Deno.mkdir(`${HERE}build`, { recursive: true });
  // Whole or not at all: another process may be starting it.
  const made = `${HERE}build/${product}.${Deno.pid}`;
  for (const compiler of COMPILERS) {
    const command = new Deno.Command(compiler, { args: [...args, "-o", made] });
    try {
      const { success } = await command.spawn().status;
      if (!success) Deno.exit(1);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      throw error;
    }
    await Deno.rename(made, `${HERE}build/${product}`);
    return;
  }
  console.error(`native: no C compiler (${COMPILERS.join(", ")}): ${product} is not built`);
}

function newestSource(): number {
  const names = Array.from(Deno.readDirSync(HERE), ({ name }) => name);
  const sources = names.filter((name) => /\.[ch]$|^build\.ts$/.test(name));
  return Math.max(...sources.map((name) => modified(HERE + name)));
}

function modified(path: string): number {
  try {
    return Deno.statSync(path).mtime?.getTime() ?? 0;
  } catch {
    return 0;
  }
}
