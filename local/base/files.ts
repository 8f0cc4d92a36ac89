/** Files that are written completely or not at all, and directories that only this user can change. */

/** Text of a file, or `null` if it cannot be read. */
export function readText(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return null;
  }
}

/**
 * Creates a directory that only this user can use, with its parents.
 *
 * @throws {TypeError} If the path is another user's, a link, or a directory that others can change.
 */
export function makePrivateDirectory(path: string): void {
  Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  const { isDirectory, uid, mode } = Deno.lstatSync(path);
  if (isDirectory && uid === Deno.uid() && !((mode ?? 0) & 0o022)) return;
  throw new TypeError(`Cannot use ${path}: must be a directory that only this user can change`);
}

/** Replaces a file that only this user can read: a reader finds all of `content`, or the old file. */
export async function writeWhole(
  path: string,
  content: Uint8Array | string,
  mode: number = 0o600,
): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  try {
    await Deno.writeFile(temporary, bytes, { createNew: true, mode });
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

/** Limits of the files in a directory: at most `files`, of at most `bytes` together. */
export interface KeptFiles {
  files?: number;
  bytes?: number;
  /** Names of the files that may be removed; all others stay and do not count. */
  names?: RegExp;
  /** Whether a file beyond the limits may be removed; absent: all may. */
  mayRemove?: (path: string) => Promise<boolean>;
}

/** Removes the oldest files of `directory` beyond its limits. */
export async function removeOldest(directory: string, kept: KeptFiles): Promise<void> {
  const { files = Infinity, bytes = Infinity, names = /^/, mayRemove } = kept;
  const matching: { path: string; size: number; time_ms: number }[] = [];
  for await (const { name } of Deno.readDir(directory)) {
    if (!names.test(name)) continue;
    const path = `${directory}/${name}`;
    const { size, mtime } = await Deno.stat(path);
    matching.push({ path, size, time_ms: mtime?.getTime() ?? 0 });
  }
  matching.sort((a, b) => b.time_ms - a.time_ms || (a.path < b.path ? 1 : -1));
  let total_bytes = 0;
  for (const [i, { path, size }] of matching.entries()) {
    total_bytes += size;
    if (i < files && total_bytes <= bytes) continue;
    if (!mayRemove || await mayRemove(path)) await Deno.remove(path);
  }
}
