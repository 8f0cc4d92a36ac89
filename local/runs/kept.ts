/** Run files that are kept: the newest, and all that are still written. */

import { removeOldest } from "../base/files.ts";

/** Run files that are kept in a directory. */
const KEPT = 20;

const RUN_FILE = /^[0-9a-f]{12}\.windows$/;
const UNFINISHED = /^[0-9a-f]{12}\.windows\..*\.tmp$/;

/** Removes the oldest run files of a directory, and what a killed profiler has left of compactions. */
export async function removeOldRuns(directory: string): Promise<void> {
  await removeOldest(directory, { files: KEPT, names: RUN_FILE, mayRemove: isUnused });
  await removeOldest(directory, { files: 0, names: UNFINISHED, mayRemove: isUnused });
}

/** Whether no process holds the lock of a file. */
async function isUnused(path: string): Promise<boolean> {
  if (!(await Deno.lstat(path)).isFile) return false;
  using file = await Deno.open(path);
  return await file.tryLock(true);
}
