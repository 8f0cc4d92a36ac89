/** Build of the strict double of CUDA and CUPTI, of its load and of its reader. */

import {
  compile,
  DRIVER,
  folderOf,
  once,
  type Sanitizer,
  SHARED,
  watchedBy,
} from "../cuda/build.ts";

const HERE = new URL("./", import.meta.url).pathname;
const ROOM = ["strict"];

/** Toolkits with a strict CUPTI: the name of its library, and its number in the sources. */
export const STRICT_TOOLKITS = {
  "12.8": { soname: "libcupti.so.12", number: 1208 },
  "12.9": { soname: "libcupti.so.12", number: 1209 },
  "13.0": { soname: "libcupti.so.13", number: 1300 },
  "13.5": { soname: "libcupti.so.13", number: 1305 },
} as const;
/** A toolkit with a strict CUPTI. */
export type StrictToolkit = keyof typeof STRICT_TOOLKITS;

/** What a program of the strict double is built from and run with. */
export interface StrictOptions {
  /** Null: no CUPTI is found. */
  toolkit: StrictToolkit | null;
  /** Sanitizer of all parts. */
  sanitizer?: Sanitizer;
}

/** Files of one build. */
export interface StrictBuild {
  /** Program that launches. */
  load: string;
  /** Folder of the libraries of the driver and of CUPTI. */
  libraries: string;
}

/** The load, and the libraries that it runs with. */
export async function strict({ toolkit, sanitizer }: StrictOptions): Promise<StrictBuild> {
  const common = [...ROOM, folderOf(sanitizer)];
  const folders = [...common, toolkit ?? "none"];
  const flags = ["-O2", ...watchedBy(sanitizer)];
  const driver = await once(DRIVER, common, async (path) => {
    const files = await sources("driver", "ledger.c");
    await compile(path, files, [...SHARED, ...flags, `-Wl,-soname,${DRIVER}`]);
  });
  const load = await once("load", common, async (path) => {
    await compile(path, [...await sources("load", "threads.c"), driver], flags);
  });
  const linked = await once(DRIVER, folders, (path) => Deno.link(driver, path));
  if (toolkit) await cupti(toolkit, { folders, flags });
  return { load, libraries: linked.slice(0, linked.lastIndexOf("/")) };
}

/** The profiler that reads as the documentation says. */
export async function reader(toolkit: StrictToolkit): Promise<string> {
  const folders = [...ROOM, folderOf(undefined), toolkit];
  const { libraries } = await strict({ toolkit });
  return once("libreader.so", folders, async (path) => {
    const linked = [`${libraries}/${DRIVER}`, `${libraries}/${STRICT_TOOLKITS[toolkit].soname}`];
    await compile(path, [`${HERE}reader.c`, ...linked], [...SHARED, "-O2"]);
  });
}

interface CuptiOptions {
  folders: string[];
  flags: string[];
}

async function cupti(toolkit: StrictToolkit, { folders, flags }: CuptiOptions): Promise<void> {
  const { soname, number } = STRICT_TOOLKITS[toolkit];
  await once(soname, folders, async (path) => {
    const versions = `${path}.map`;
    await Deno.writeTextFile(versions, `${soname} { global: cupti*; local: *; };\n`);
    await compile(path, await sources("cupti", "ledger.c"), [
      ...SHARED,
      ...flags,
      `-DSTRICT_CUPTI=${number}`,
      `-Wl,-soname,${soname}`,
      `-Wl,--version-script=${versions}`,
    ]);
  });
}

async function sources(prefix: string, ...others: string[]): Promise<string[]> {
  const names = [...others];
  for await (const { name } of Deno.readDir(HERE)) {
    if (name.startsWith(prefix) && name.endsWith(".c")) names.push(name);
  }
  return names.map((name) => HERE + name);
}
