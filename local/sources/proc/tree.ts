/** Which processes belong to the workload. */

import type { ProcFiles } from "../../base/proc_files.ts";
import { hasEnded, parseStat } from "../../base/proc_text.ts";

/** Where the tree starts, and what its members carry. */
export interface ProcessTreeOptions {
  /** The workload's first process. */
  root: number;
  /** The environment entry (`NAME=value`) that the workload hands down to all it starts. */
  marker: string;
  /** The profiler: neither it nor what it starts is ever a member. */
  self: number;
  files: ProcFiles;
}

/** Looks after which a foreign pid is looked at again: another process may have it by then. */
const FOREIGN_LOOKS = 64;

/**
 * The root, whoever a member has started, and whoever carries the marker: one that has left its
 * parents (a daemon) still has the environment that it was started with. None is older than the root.
 */
export class ProcessTree {
  readonly #options: ProcessTreeOptions;
  readonly #members = new Set<number>();
  readonly #foreign = new Set<number>();
  #looks = 0;

  /** A tree without members yet. */
  constructor(options: ProcessTreeOptions) {
    this.#options = options;
  }

  /** Looks for processes that are new and forgets those that are gone; pids of all members. */
  async look(pause: () => Promise<void> | void): Promise<number[]> {
    const { files, self, root } = this.#options;
    const pids = (files.names("") ?? []).filter((name) => /^\d+$/.test(name)).map(Number);
    const there = new Set(pids);
    for (const known of [this.#members, this.#foreign]) {
      for (const pid of known) if (!there.has(pid)) known.delete(pid);
    }
    this.#looks++;
    const rootStat = parseStat(files.text(`${root}/stat`) ?? "");
    const parents = new Map<number, number>();
    for (const pid of pids) {
      if (pid === self || this.#isKnown(pid)) continue;
      const stat = parseStat(files.text(`${pid}/stat`) ?? "");
      if (!stat || hasEnded(stat)) continue;
      if (rootStat && stat.start_ticks < rootStat.start_ticks) this.#foreign.add(pid);
      else if (pid === root || this.#isMarked(pid)) this.#members.add(pid);
      else parents.set(pid, stat.parent);
      await pause();
    }
    this.#adopt(parents);
    for (const pid of parents.keys()) this.#foreign.add(pid);
    return [...this.#members];
  }

  /** Takes a pid off the tree: its process has ended, and a next one is looked at anew. */
  forget(pid: number): void {
    this.#members.delete(pid);
  }

  #isKnown(pid: number): boolean {
    if (this.#members.has(pid)) return true;
    return this.#foreign.has(pid) && (this.#looks + pid) % FOREIGN_LOOKS !== 0;
  }

  #isMarked(pid: number): boolean {
    const { files, marker } = this.#options;
    return `\0${files.text(`${pid}/environ`) ?? ""}`.includes(`\0${marker}\0`);
  }

  /** Moves to the members, generation by generation, all whose parent is one. */
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
