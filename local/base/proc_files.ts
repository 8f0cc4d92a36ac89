/** Files under `/proc`, read synchronously: the kernel generates them from memory. */

import { readText } from "./files.ts";

/** Files under one folder; `null` for files that are missing, not readable or just removed. */
export interface ProcFiles {
  /** The text of a file. */
  text(path: string): string | null;
  /** The names in a folder. */
  names(path: string): string[] | null;
  /** The target of a link. */
  link(path: string): string | null;
  /** The reported size of a file or folder. */
  size(path: string): number | null;
}

/** Longer texts are cut: only a command line may be longer than this. */
const BUFFER_BYTES = 256 * 1024;

/** The files under `root`, read into one buffer that all reads share. */
export function createProcFiles(root = "/proc"): ProcFiles {
  const buffer = new Uint8Array(BUFFER_BYTES);
  const decoder = new TextDecoder();

  function read(path: string): string {
    using file = Deno.openSync(`${root}/${path}`);
    let length = 0;
    let more: number | null = 0;
    do {
      length += more;
      more = file.readSync(buffer.subarray(length));
      // One read gives complete records, not all that fit: the end is a read that gives nothing.
    } while (more);
    return decoder.decode(buffer.subarray(0, length));
  }

  return {
    text: (path) => orNull(() => read(path)),
    names: (path) => orNull(() => Array.from(Deno.readDirSync(`${root}/${path}`), (e) => e.name)),
    link: (path) => orNull(() => Deno.readLinkSync(`${root}/${path}`)),
    size: (path) => orNull(() => Deno.statSync(`${root}/${path}`).size),
  };
}

/**
 * Processes that the out-of-memory killer has ended since the machine started, those that reached the
 * limit of their container among them; `null` where the kernel has no count.
 */
export function oomKills(proc = "/proc"): number | null {
  const count = /^oom_kill (\d+)$/m.exec(readText(`${proc}/vmstat`) ?? "")?.[1];
  return count === undefined ? null : Number(count);
}

/** Any file may disappear while it is read, with an error that depends on kernel and file. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
