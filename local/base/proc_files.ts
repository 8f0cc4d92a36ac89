/** Files under `/proc`, read without waiting: the kernel makes them from memory. */

import { readText } from "./files.ts";

/** Reads what is under one folder. What is not there, not allowed or just gone is `null`. */
export interface ProcFiles {
  /** The text of a file. */
  text(path: string): string | null;
  /** The names in a folder. */
  names(path: string): string[] | null;
  /** Where a link leads. */
  link(path: string): string | null;
  /** The size that a file or folder states. */
  size(path: string): number | null;
}

/** Longer texts are cut: a command line may have megabytes, and nothing measured is that long. */
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
      // A read gives whole records, not all that fit: only one that gives nothing is the end.
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
 * How many processes of this machine were ended for want of memory since it started, those that only
 * reached the limit of their container included; `null` where the kernel does not say.
 */
export function oomKills(proc = "/proc"): number | null {
  const count = /^oom_kill (\d+)$/m.exec(readText(`${proc}/vmstat`) ?? "")?.[1];
  return count === undefined ? null : Number(count);
}

/** Everything here may vanish while it is read, and each kernel and file says so in its own way. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
