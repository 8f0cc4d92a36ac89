/** The native products: loadable with glibc 2.28, few exports, outdated by any change. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../tests/temporary_directory.ts";
import { ARCHITECTURES, compile, compilerFor, newestSource } from "./build.ts";
import { type Product, PRODUCTS } from "./products.ts";
import { run } from "../tests/command.ts";
import { missingCompiler, testUnless } from "../tests/skipping.ts";

/** The oldest glibc that the library must load with. */
const OLDEST_GLIBC = [2, 28];

/** Libraries that a product may be linked with. */
const NEEDED = /^(libc\.so\.6|libdl\.so\.2|libpthread\.so\.0|ld-linux-[\w-]+\.so\.\d)$/;

const ONE_POINTER = "8 (bytes)";

const LIBRARY = PRODUCTS["libservice.so"]!;

/** A library that calls the functions that glibc 2.34 moved into libc. */
const EXERCISE: Product = { ...LIBRARY, sources: ["testdata/moved_functions.c"] };

const EXPORTED: Record<string, string[]> = {
  "libservice.so": ["InitializeInjection", "service_exec", "service_segment_ask"],
  "libconsole.so": ["sieve_create", "sieve_find"],
  "libdevices.so": ["devices_start", "devices_stop"],
  exercise: ["exercise"],
};

const text = async (...words: string[]) => (await run(words)).stdout;

const readelf = await text("readelf", "--version").catch(() => "");
/** Whether `ffi/glibc.h` has anything to do here. */
const glibc = /glibc|GNU libc/i.test(await text("ldd", "--version").catch(() => ""));

for (const architecture of ARCHITECTURES) {
  const compiler = compilerFor(architecture);
  const missing = compiler === undefined
    ? `no C compiler for ${architecture}`
    : !readelf
    ? "no readelf"
    : glibc
    ? null
    : "no glibc";
  const test = testUnless(missing);

  for (const [name, exported] of Object.entries(EXPORTED)) {
    test(
      `${name} for ${architecture} loads with glibc 2.28 or newer, and exports what it is called by`,
      async () => {
        await using directory = await temporaryDirectory();
        const output = `${directory.path}/lib.so`;
        await compile(PRODUCTS[name] ?? EXERCISE, { compilers: [compiler!], output });

        const versions = await text("readelf", "-WV", output);
        const [major, minor] = highest(versions.matchAll(/\bGLIBC_(\d+)\.(\d+)/g));
        assert(major === OLDEST_GLIBC[0] && minor! <= OLDEST_GLIBC[1]!, `GLIBC_${major}.${minor}`);

        const dynamic = await text("readelf", "-Wd", output);
        for (const [, needed] of dynamic.matchAll(/\(NEEDED\).*\[(.*)\]/g)) {
          assert.match(needed!, NEEDED);
        }
        assert.match(dynamic, /\(NEEDED\).*libdl\.so\.2/);
        assert.match(dynamic, /FLAGS_1.*NOW NODELETE/);
        assert.match(dynamic, /\(SYMBOLIC\)/);
        // One constructor, the compiler's: ours would run in every process that loads the library.
        for (const [, bytes] of dynamic.matchAll(/\((?:INIT|FINI)_ARRAYSZ\)\s+(.*)/g)) {
          assert.equal(bytes, ONE_POINTER);
        }

        const symbols = await text("nm", "-D", "--defined-only", output);
        const names = symbols.trim().split("\n").map((line) => line.split(" ").at(-1));
        assert.deepEqual(names, exported);
      },
    );
  }

  test(
    `service-supervisor for ${architecture} needs no library`,
    async () => {
      await using directory = await temporaryDirectory();
      const output = `${directory.path}/supervisor`;
      const product = PRODUCTS["service-supervisor"]!;
      // Only the static one: its warnings are errors.
      await compile({ ...product, fallbacks: product.fallbacks.slice(0, 1) }, {
        compilers: [compiler!],
        output,
      });
      assert.match(await text("readelf", "-Wd", output), /no dynamic section/);
      assert.doesNotMatch(await text("readelf", "-Wl", output), /INTERP/);
    },
  );
}

testUnless(missingCompiler(compilerFor(Deno.build.arch)))(
  "functions that glibc moved work by their old versions",
  async () => {
    await using directory = await temporaryDirectory();
    const output = `${directory.path}/lib.so`;
    await compile(EXERCISE, { compilers: [compilerFor(Deno.build.arch)!], output });
    const library = Deno.dlopen(output, { exercise: { parameters: [], result: "i32" } });
    assert.equal(library.symbols.exercise(), 42);
    library.close();
  },
);

testUnless(missingCompiler(compilerFor(Deno.build.arch)))(
  "a product that does not compile is refused with the compiler's message",
  async () => {
    await using directory = await temporaryDirectory();
    const output = `${directory.path}/none`;
    const options = { compilers: [compilerFor(Deno.build.arch)!], output };
    await assert.rejects(compile({ ...LIBRARY, sources: ["none.c"] }, options), /none\.c/);
    assert.deepEqual(Array.from(Deno.readDirSync(directory.path)), []);
  },
);

Deno.test("a change in any room makes the products outdated", async () => {
  await using directory = await temporaryDirectory();
  const rooms = `${directory.path}/a/b`;
  await Deno.mkdir(rooms, { recursive: true });
  for (const [name, time_ms] of [["../c.c", 1000], ["d.h", 3000], ["notes", 9000]] as const) {
    await Deno.writeTextFile(`${rooms}/${name}`, "");
    await Deno.utime(`${rooms}/${name}`, new Date(time_ms), new Date(time_ms));
  }
  assert.equal(newestSource(`${directory.path}/`), 3000);
});

function highest(found: Iterable<RegExpMatchArray>): number[] {
  const versions = Array.from(found, ([, major, minor]) => [Number(major), Number(minor)]);
  return versions.sort(([a, b], [c, d]) => c! - a! || d! - b!)[0] ?? [];
}
