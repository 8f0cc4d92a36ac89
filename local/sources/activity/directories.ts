/** Where an instance's processes leave their segments, and the end of what earlier ones left there. */

import { isListable } from "../../base/directories.ts";
import { makePrivateDirectory } from "../../base/files.ts";
import { errorText } from "../../base/log.ts";
import { SegmentFile } from "./file.ts";

/** Names of segments: pid, start, and a number where another has the same. */
export const SEGMENT_NAME = /^\d+-\d+(-\d+)?$/;

/** Held by the watcher of a directory. */
const LOCK = "watcher";

/** A directory so young may be one that is being made. */
const YOUNG_MS = 60_000;

/** The directories of a run, ours for as long as it lasts. */
export interface HeldDirectories extends Disposable {
  /** Those that could be had. */
  readonly paths: readonly string[];
  /** Why some could not. */
  readonly faults: readonly string[];
}

/** Makes and locks the directories; removes what ended runs left beside them. */
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
        // Only where nothing else is in it.
        quietly(() => Deno.removeSync(parent(path)));
      }
    },
  };
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** By locks and never by pids: those may be of other namespaces, or used again. */
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
    // Another watcher is at it, or it is not ours.
  }
}
