/** The process tree: which processes belong to the workload. */

import type { ProcFiles } from "../../base/proc_files.ts";
import type { Pace } from "../pacing.ts";
import { hasEnded, parseStat } from "../../base/proc_text.ts";

/** Where the tree starts, and how its members are marked. */
export interface ProcessTreeOptions {
  /** The workload's first process. */
  root: number;
  /** The environment entry (`NAME=value`) that processes of the workload inherit. */
  marker: string;
  /** The profiler's pid: it is never a member. */
  self: number;
  /** The process whose children orphans of the workload become. */
  reaper: number;
  files: ProcFiles;
}

/** Updates after which a foreign pid is checked again: another process may have got it. */
const FOREIGN_UPDATES = 64;

/**
 * The root, all children of members, and all processes with the marker: a daemon that has left its
 * parents still has the environment that it was started with. No member is older than the root.
 */
export class ProcessTree {
  readonly #options: ProcessTreeOptions;
  readonly #members = new Set<number>();
  readonly #foreign = new Set<number>();
  #updates = 0;

  /** A tree that has no members before its first update. */
  constructor(options: ProcessTreeOptions) {
    this.#options = options;
  }

  /** Adds new processes and drops those that are gone; returns all pids, of parents before children. */
  async update(pace: Pace): Promise<number[]> {
    const { files, self, root, reaper } = this.#options;
    const names = files.names("");
    if (!names) return [...this.#members];
    const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
    const existing = new Set(pids);
    for (const known of [this.#members, this.#foreign]) {
      for (const pid of known) if (!existing.has(pid)) known.delete(pid);
    }
    this.#updates++;
    const rootStat = parseStat(files.text(`${root}/stat`) ?? "");
    const found = new Map<number, Found>();
    for (const pid of pids) {
      if (pid === self || this.#isKnown(pid)) continue;
      const stat = parseStat(files.text(`${pid}/stat`) ?? "");
      if (!stat || hasEnded(stat)) continue;
      if (rootStat && stat.start_ticks < rootStat.start_ticks) this.#foreign.add(pid);
      // A workload with a session of its own has a parent of ours beside the reaper.
      else if (pid === rootStat?.parent) this.#foreign.add(pid);
      else {
        const { parent } = stat;
        const belongs = pid === root || parent === reaper || this.#isMarked(pid);
        found.set(pid, { parent, belongs });
      }
      await pace();
    }
    for (const pid of found.keys()) this.#place(pid, found);
    return [...this.#members];
  }

  /** Drops a pid whose process has ended; a later process with the pid is checked anew. */
  forget(pid: number): void {
    this.#members.delete(pid);
  }

  #isKnown(pid: number): boolean {
    if (this.#members.has(pid)) return true;
    return this.#foreign.has(pid) && (this.#updates + pid) % FOREIGN_UPDATES !== 0;
  }

  #isMarked(pid: number): boolean {
    const { files, marker } = this.#options;
    return `\0${files.text(`${pid}/environ`) ?? ""}`.includes(`\0${marker}\0`);
  }

  /** Decides whether a process that was found is a member, its parent first; answers whether it is. */
  #place(pid: number, found: Map<number, Found>): boolean {
    if (this.#members.has(pid)) return true;
    const process = found.get(pid);
    if (!process) return false;
    found.delete(pid);
    const isChild = this.#place(process.parent, found);
    const isMember = isChild || process.belongs;
    this.#foreign.delete(pid);
    (isMember ? this.#members : this.#foreign).add(pid);
    return isMember;
  }
}

/** A process that may be a member. */
interface Found {
  parent: number;
  /** Whether it is a member whatever its parent is. */
  belongs: boolean;
}
