/** Builds of the strict double, one a generation of drivers, and of the proof of its rules. */

import { command } from "../../command.ts";
import {
  compile,
  compiler,
  folderOf,
  once,
  type Sanitizer,
  SHARED,
  watchedBy,
} from "../cuda/build.ts";

const HERE = new URL("./", import.meta.url).pathname;
const SONAME = "libnvidia-ml.so.1";

/** Generations of drivers: what the library of one has is what the header of its branch declares. */
export const DRIVERS = [470, 535, 550, 580, 615] as const;
export type Driver = typeof DRIVERS[number];

/** Path of the NVML of a driver. */
export function strictNvml(driver: Driver, sanitizer?: Sanitizer): Promise<string> {
  return once(SONAME, ["nvml_strict", String(driver), folderOf(sanitizer)], async (path) => {
    const flags = [...SHARED, ...watchedBy(sanitizer), `-Wl,-soname,${SONAME}`];
    await compile(path, await sources("double"), [...flags, `-DDRIVER=${driver}`]);
  });
}

/** Path of the program that proves the double's rules. */
export function proof(driver: Driver): Promise<string> {
  return once("proof", ["nvml_strict", String(driver)], async (path) => {
    await compile(path, await sources("proof"), [`-DDRIVER=${driver}`]);
  });
}

/** What the compiler says of the double with NVIDIA's header in place of ours: nothing, if they agree. */
export async function compareWith(header: string, driver: Driver): Promise<string> {
  const { stderr } = await command([
    ...[compiler!, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"],
    ...["-Wno-deprecated-declarations", `-DDRIVER=${driver}`, `-DREAL_HEADER="${header}"`],
    ...await sources("double"),
  ]).output();
  return new TextDecoder().decode(stderr);
}

async function sources(of: "double" | "proof"): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(HERE), ({ name }) => name);
  return names.filter((name) => name.endsWith(".c"))
    .filter((name) => name.startsWith("proof") === (of === "proof"))
    .map((name) => HERE + name);
}
