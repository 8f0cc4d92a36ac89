/** The directories of a run's segments: made, locked, and swept of what ended runs left. */

import { isListable } from "../../base/directories.ts";
import { makePrivateDirectory } from "../../base/files.ts";
import { errorText } from "../../base/log.ts";
import { SegmentFile } from "../segments/file.ts";
import { SEGMENT_NAME } from "../segments/segments.ts";

/** The file that the watcher of a directory has locked. */
const LOCK = "watcher";

/** A younger directory may be one that is being made. */
const YOUNG_MS = 60_000;

/** The directories of a run, removed when disposed. */
export interface HeldDirectories extends Disposable {
  /** Directories that could be made and locked. */
  readonly paths: readonly string[];
  /** Faults of the others. */
  readonly faults: readonly string[];
}

/** Makes and locks the directories; removes those of ended runs beside them. */
export function holdDirectories(directories: readonly string[]): HeldDirectories {
  const held: { path: string; lock: Deno.FsFile }[] = [];
  const faults: string[] = [];
  for (const path of directories) {
    try {
      if (!isListable(path)) {
        throw new TypeError(`Cannot use ${path}: must have no ":" in its name`);
      }
      makePrivateDirectory(parent(path));
      makePrivateDirectory(path);
      const lock = Deno.openSync(`${path}/${LOCK}`, { create: true, write: true, mode: 0o600 });
      held.push({ path, lock });
      lock.tryLockSync(true);
      sweep(parent(path), path);
    } catch (error) {
      faults.push(errorText(error));
    }
  }
  return {
    paths: held.map(({ path }) => path),
    faults,
    [Symbol.dispose]() {
      for (const { path, lock } of held) {
        lock.close();
        quietly(() => Deno.removeSync(path, { recursive: true }));
        // Removed only if it is empty.
        quietly(() => Deno.removeSync(parent(path)));
      }
    },
  };
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** Removes directories of ended runs, known by their locks: pids may be of other namespaces, or reused. */
function sweep(root: string, own: string): void {
  for (const { name, isDirectory } of Deno.readDirSync(root)) {
    const path = `${root}/${name}`;
    if (!isDirectory || !/^[0-9a-f]{12}$/.test(name) || path === own) continue;
    quietly(() => {
      const { mtime } = Deno.statSync(path);
      if (Date.now() - (mtime?.getTime() ?? 0) < YOUNG_MS) return;
      for (const { name: file } of Deno.readDirSync(path)) {
        if (file !== LOCK && !SEGMENT_NAME.test(file)) continue;
        using opened = new SegmentFile(`${path}/${file}`);
        if (opened.isAlive()) return;
      }
      Deno.removeSync(path, { recursive: true });
    });
  }
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // Another watcher removes it too, or it belongs to another user.
  }
}
