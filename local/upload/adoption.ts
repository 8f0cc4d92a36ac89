/** Adoption: what crashed runs left is sent by a later run with the same destination. */

import { Destination } from "./destination.ts";
import type { ReadKey } from "./key.ts";
import { tryLockSpool } from "./lock.ts";
import { Sender } from "./sender.ts";
import { Spool } from "./spool.ts";

/** The run that adopts. */
export interface AdoptOptions {
  /** Directory of all spools. */
  spools: string;
  destination: Destination;
  key: ReadKey;
  /** Tells the user. */
  warn: (message: string) => void;
}

/** The service keeps no window for longer than this. */
const ABANDONED_MS = 30 * 24 * 3_600_000;

/** Senders of the spools that no living run holds and that go to the same destination. */
export async function adopt(options: AdoptOptions): Promise<Sender[]> {
  const adopted: Sender[] = [];
  try {
    for await (const { name } of Deno.readDir(options.spools)) {
      const sender = await adoptOne(`${options.spools}/${name}`, options).catch(() => undefined);
      if (sender) adopted.push(sender);
    }
  } catch {
    // No directory of spools: no run has left any.
  }
  return adopted;
}

async function adoptOne(
  directory: string,
  { destination: own, key, warn }: AdoptOptions,
): Promise<Sender | undefined> {
  // The run's own spool is locked too.
  const lock = await tryLockSpool(directory);
  if (!lock) return undefined;
  const destination = await Destination.left(directory);
  if (destination && own.includes(destination)) {
    const spool = await Spool.open(directory, { warn });
    return new Sender({ spool, destination, key, warn, lock, left: true });
  }
  const { mtime } = await Deno.stat(directory);
  if (mtime && Date.now() - mtime.getTime() > ABANDONED_MS) {
    await Deno.remove(directory, { recursive: true });
  }
  lock.close();
  return undefined;
}
