/** Locks of spools: each is held for as long as the process that sends its windows lives. */

/** Locks a spool, as soon as no other holds it. */
export async function lockSpool(directory: string): Promise<Deno.FsFile> {
  const lock = await open(directory);
  await lock.lock(true);
  return lock;
}

/** Locks a spool that no other holds. */
export async function tryLockSpool(directory: string): Promise<Deno.FsFile | undefined> {
  const lock = await open(directory);
  if (await lock.tryLock(true)) return lock;
  lock.close();
  return undefined;
}

function open(directory: string): Promise<Deno.FsFile> {
  return Deno.open(`${directory}/lock`, { create: true, write: true, mode: 0o600 });
}
