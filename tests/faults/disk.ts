/** A disk that fails at an exact change: a library preloaded into the process that writes. */

import { type Ledger, range } from "./ledger.ts";
import { nextChange } from "./table.ts";
import { command } from "../command.ts";
import { compiler } from "../doubles/cuda/build.ts";
import { missingCompiler, type Test, testUnless } from "../skipping.ts";

const SOURCE = new URL("./disk.c", import.meta.url).pathname;
const FLAGS = [
  "-std=c11",
  "-D_GNU_SOURCE",
  "-Wall",
  "-Wextra",
  "-Werror",
  "-O1",
  "-shared",
  "-fPIC",
];

/** Registers a test of {@linkcode faultyDisk}, which needs a C compiler. */
export const testOnFaultyDisk: Test = testUnless(missingCompiler(compiler));

/** Faults, by their numbers in the library. */
const ACTIONS = ["none", "kill before", "kill after", "full"] as const;
export type DiskAction = typeof ACTIONS[number];

/** A disk with faults that a test sets. */
export interface FaultyDisk extends AsyncDisposable {
  /** Environment of a process with this disk. */
  env: Record<string, string>;
  /** Sets the fault of the `change`th change of a database file from now on. */
  arm: (action: DiskAction, change?: number) => void;
  /** Changes left until the fault; above 0 if it has not happened. */
  left: () => number;
}

/** Compiles the library for files with `path` in their paths. */
export async function faultyDisk(path: string): Promise<FaultyDisk> {
  const directory = await Deno.makeTempDir();
  const [library, control] = [`${directory}/disk.so`, `${directory}/control`];
  const remove = () => Deno.remove(directory, { recursive: true });
  const build = command(["cc", ...FLAGS, SOURCE, "-o", library]);
  const { success, stderr } = await build.output();
  if (!success) {
    await remove();
    throw new Error(new TextDecoder().decode(stderr));
  }
  await Deno.writeFile(control, new Uint8Array(8));
  return {
    env: { LD_PRELOAD: library, DISK_FAULT: control, DISK_FAULT_PATH: path },
    arm(action, change = 1) {
      const words = new Int32Array([ACTIONS.indexOf(action), change]);
      // The file is mapped: it must not be truncated.
      using file = Deno.openSync(control, { write: true });
      file.writeSync(new Uint8Array(words.buffer));
    },
    left: () => new Int32Array(Deno.readFileSync(control).buffer)[1]!,
    [Symbol.asyncDispose]: remove,
  };
}

/** An API with its database on the disk; `revive` starts it if it has ended. */
export interface OnDisk {
  url: string;
  revive: () => Promise<void>;
}

/** Fills the disk at each change in turn: reads must be answered, uploads stored afterwards. */
export async function fillAtEachChange(
  api: OnDisk,
  disk: FaultyDisk,
  newLedger: () => Ledger | Promise<Ledger>,
): Promise<void> {
  for (let change = 1, isOver = false; !isOver; change = nextChange(change)) {
    const ledger = await newLedger();
    await ledger.deliver(api, 0, api.revive);
    disk.arm("full", change);
    isOver = true;
    for (const i of range(1, ledger.windows)) {
      await ledger.deliver(api, i, async () => {
        isOver = false;
        await ledger.expectPrefix(api.url);
        disk.arm("none");
      });
      await ledger.expectPrefix(api.url);
    }
    disk.arm("none");
    await ledger.expectWhole(api.url);
  }
}
