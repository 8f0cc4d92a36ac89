/** The directory of run files: their names, their bytes, and the ones that are kept. */

import { removeOldest } from "../base/files.ts";

/** Run files that are kept in a directory. */
const KEPT = 20;

/** Bytes that are read at once. */
const CHUNK_BYTES = 65_536;

const RUN_FILE = /^([0-9a-f]{12})\.windows$/;
const UNFINISHED = /^[0-9a-f]{12}\.windows\..*\.tmp$/;

/** Path of the file of a run. */
export function runFilePath(directory: string, instance_id: string): string {
  return `${directory}/${instance_id}.windows`;
}

/** The instances that have a file in a directory; none if that does not exist. */
export async function listRuns(directory: string): Promise<string[]> {
  try {
    const names = await Array.fromAsync(Deno.readDir(directory), ({ name }) => name);
    return names.flatMap((name) => RUN_FILE.exec(name)?.[1] ?? []);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The file of a run, open for reading; `undefined` if it has none. */
export async function openRun(
  directory: string,
  instance_id: string,
): Promise<Deno.FsFile | undefined> {
  const path = runFilePath(directory, instance_id);
  if (!RUN_FILE.test(`${instance_id}.windows`)) return undefined;
  try {
    // Another kind of file, such as a pipe, could be waited for without end.
    return (await Deno.lstat(path)).isFile ? await Deno.open(path) : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The bytes of a file, which end where it ends now. */
export async function* chunksOf(file: Deno.FsFile): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (let length; (length = await file.read(buffer)) !== null;) yield buffer.subarray(0, length);
}

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
