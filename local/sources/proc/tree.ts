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

  /** Adds new processes and drops ended ones; returns the pids of all members. */
  async update(pace: Pace): Promise<number[]> {
    const { files, self, root } = this.#options;
    const pids = (files.names("") ?? []).filter((name) => /^\d+$/.test(name)).map(Number);
    const existing = new Set(pids);
    for (const known of [this.#members, this.#foreign]) {
      for (const pid of known) if (!existing.has(pid)) known.delete(pid);
    }
    this.#updates++;
    const rootStat = parseStat(files.text(`${root}/stat`) ?? "");
    const parents = new Map<number, number>();
    for (const pid of pids) {
      if (pid === self || this.#isKnown(pid)) continue;
      const stat = parseStat(files.text(`${pid}/stat`) ?? "");
      if (!stat || hasEnded(stat)) continue;
      if (rootStat && stat.start_ticks < rootStat.start_ticks) this.#foreign.add(pid);
      else if (pid === root || this.#isMarked(pid)) this.#members.add(pid);
      else parents.set(pid, stat.parent);
      await pace();
    }
    this.#adopt(parents);
    for (const pid of parents.keys()) this.#foreign.add(pid);
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

  /** Moves children of members to the members, generation by generation. */
  #adopt(parents: Map<number, number>): void {
    let found = true;
    while (found) {
      found = false;
      for (const [pid, parent] of parents) {
        if (!this.#members.has(parent)) continue;
        parents.delete(pid);
        this.#foreign.delete(pid);
        this.#members.add(pid);
        found = true;
      }
    }
  }
}
