/** Disks that fail at an exact point: a library that is preloaded into what writes to them. */

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

/** Registers a test of a disk that fails: the library is compiled. */
export const testOnFaultyDisk: Test = testUnless(missingCompiler(compiler));

/** What may happen, as the library numbers it. */
const ACTIONS = ["none", "kill before", "kill after", "full"] as const;
export type DiskAction = typeof ACTIONS[number];

/** A disk whose faults a test decides. */
export interface FaultyDisk extends AsyncDisposable {
  /** The environment of a process that is to suffer them. */
  env: Record<string, string>;
  /** At the `change`th change of a file of the database from now on. */
  arm: (action: DiskAction, change?: number) => void;
  /** How many more changes there were to be. */
  left: () => number;
}

/** A disk for files whose path holds `path`: builds the library. */
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
      // Not emptied first, as it is mapped.
      using file = Deno.openSync(control, { write: true });
      file.writeSync(new Uint8Array(words.buffer));
    },
    left: () => new Int32Array(Deno.readFileSync(control).buffer)[1]!,
    [Symbol.asyncDispose]: remove,
  };
}

/** An API whose database is on the disk; `revive` starts it where it has ended. */
export interface OnDisk {
  url: string;
  revive: () => Promise<void>;
}

/** Fills the disk at one change after the other: what is stored is read meanwhile, and all is taken after. */
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
