/** Builds of the strict double, one a generation of drivers, and of the proof of its rules. */

import { command } from "../../command.ts";
import { compiler, type Sanitizer } from "../cuda/build.ts";

const HERE = new URL("./", import.meta.url).pathname;
const FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-g"];
const SHARED = ["-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-soname,libnvidia-ml.so.1"];

/** Generations of drivers: what the library of one has is what the header of its branch declares. */
export const DRIVERS = [470, 535, 550, 580, 615] as const;
export type Driver = typeof DRIVERS[number];

const builds = new Map<string, Promise<string>>();
let directory: string | undefined;

/** A directory with the `libnvidia-ml.so.1` of a driver, for `LD_LIBRARY_PATH`. */
export async function strictNvml(driver: Driver, sanitizer?: Sanitizer): Promise<string> {
  const library = await built("libnvidia-ml.so.1", driver, async (path) => {
    await compile(path, await sources("double"), [...SHARED, ...flagsOf(driver, sanitizer)]);
  }, sanitizer);
  return library.slice(0, library.lastIndexOf("/"));
}

/** Path of the program that proves the double's rules. */
export function proof(driver: Driver): Promise<string> {
  return built("proof", driver, async (path) => {
    await compile(path, await sources("proof"), flagsOf(driver));
  });
}

/** Path of a library that, preloaded, makes time pass faster. */
export function fastTime(): Promise<string> {
  return built("fast_time.so", DRIVERS[0], async (path) => {
    await compile(path, [`${HERE}fast_time.c`], ["-shared", "-fPIC"]);
  });
}

/** What the compiler says of the double with NVIDIA's header in place of ours: nothing, if they agree. */
export async function compareWith(header: string, driver: Driver): Promise<string> {
  const { stderr } = await command([
    ...[compiler!, ...FLAGS, "-Wno-deprecated-declarations", "-fsyntax-only"],
    ...[...flagsOf(driver), `-DREAL_HEADER="${header}"`, ...await sources("double")],
  ]).output();
  return new TextDecoder().decode(stderr);
}

function flagsOf(driver: Driver, sanitizer?: Sanitizer): string[] {
  return [`-DDRIVER=${driver}`, ...sanitizer ? [`-fsanitize=${sanitizer}`] : []];
}

async function sources(of: "double" | "proof"): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(HERE), ({ name }) => name);
  return names.filter((name) => name.endsWith(".c") && !name.startsWith("fast_time"))
    .filter((name) => name.startsWith("proof") === (of === "proof"))
    .map((name) => HERE + name);
}

function built(
  name: string,
  driver: Driver,
  make: (path: string) => Promise<void>,
  sanitizer?: Sanitizer,
): Promise<string> {
  const path = [root(), sanitizer?.replace(",", "-") ?? "plain", driver, name].join("/");
  const known = builds.get(path);
  if (known) return known;
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  const making = make(path).then(() => path);
  builds.set(path, making);
  return making;
}

function root(): string {
  if (directory) return directory;
  const created = directory = Deno.makeTempDirSync({ prefix: "service-test-nvml-strict-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(created, { recursive: true }));
  return created;
}

async function compile(path: string, files: string[], flags: string[]): Promise<void> {
  const args = [...FLAGS, ...flags, ...files, "-o", path, "-ldl", "-lpthread", "-lm"];
  const { success, stderr } = await command([compiler!, ...args]).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
