/** Listeners: who holds the sockets that listen at an address of this machine. */

import { createProcFiles, type ProcFiles } from "../../base/proc_files.ts";
import { hasEnded, parseStat } from "../../base/proc_text.ts";
import { createPace } from "../pacing.ts";
import { listening } from "./sockets.ts";

/** Who holds the listeners at an address: a process of the run, another one, or one that cannot be told. */
export type Holder =
  /** `sockets` identifies the listeners: a server that has restarted listens at another one. */
  | { is: "run"; sockets: string }
  | { is: "other"; who: string }
  | { is: "unknown" };

/** The holder of one socket. */
type SocketHolder = { is: "run" } | Exclude<Holder, { is: "run" }>;

/** The run whose listeners are told from those of others. */
export interface ListenersOptions {
  /** The workload's first process. */
  root: number;
  /** The environment entry (`NAME=value`) that processes of the workload inherit. */
  marker: string;
  /** Folder of the kernel's files, `/proc` by default. */
  proc?: string;
}

/** Most generations between a process and the workload's first one. */
const MAX_DEPTH = 64;

/** Tells who holds the listeners at an address. A socket never changes hands between runs: each is looked up once. */
export class Listeners {
  readonly #options: ListenersOptions;
  readonly #files: ProcFiles;
  /** By inode, of the sockets that listened at the last look. */
  #known = new Map<string, SocketHolder>();

  /** Listeners of this machine, none of which has been looked up. */
  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#files = createProcFiles(options.proc);
  }

  /** Who holds what listens at the host and the port of `url`; unknown where nothing does, as behind a container. */
  async holder(url: URL): Promise<Holder> {
    const known = new Map<string, SocketHolder>();
    for (const inode of listening(this.#files, url)) {
      known.set(inode, this.#known.get(inode) ?? await this.#holderOf(inode));
    }
    this.#known = known;
    const holders = [...known.values()];
    // Where several share the port, any of them may answer.
    for (const holder of holders) if (holder.is === "other") return holder;
    const isOfRun = holders.length > 0 && holders.every(({ is }) => is === "run");
    return isOfRun ? { is: "run", sockets: [...known.keys()].sort().join() } : { is: "unknown" };
  }

  async #holderOf(inode: string): Promise<SocketHolder> {
    const pace = createPace();
    let other: number | undefined;
    let isHidden = false;
    for (const pid of this.#pids()) {
      const descriptors = this.#files.names(`${pid}/fd`);
      // A program with another user's rights hides what it holds.
      if (!descriptors) isHidden ||= this.#isRunning(pid) && this.#isOfRun(pid);
      else if (this.#holds(pid, { descriptors, inode })) {
        if (this.#isOfRun(pid)) return { is: "run" };
        other ??= pid;
      }
      await pace();
    }
    if (other !== undefined) return { is: "other", who: this.#nameOf(other) };
    return isHidden ? { is: "unknown" } : { is: "other", who: "a process of another user" };
  }

  /** All processes, the youngest first: those of the run are among them. */
  #pids(): number[] {
    const names = this.#files.names("") ?? [];
    return names.filter((name) => /^\d+$/.test(name)).map(Number).sort((a, b) => b - a);
  }

  #holds(
    pid: number,
    { descriptors, inode }: { descriptors: readonly string[]; inode: string },
  ): boolean {
    return descriptors.some((name) =>
      this.#files.link(`${pid}/fd/${name}`) === `socket:[${inode}]`
    );
  }

  #isRunning(pid: number): boolean {
    const stat = parseStat(this.#files.text(`${pid}/stat`) ?? "");
    return stat !== null && !hasEnded(stat);
  }

  #isOfRun(pid: number): boolean {
    const { root, marker } = this.#options;
    for (let at = pid, depth = 0; at > 0 && depth < MAX_DEPTH; depth++) {
      if (at === root) return true;
      if (`\0${this.#files.text(`${at}/environ`) ?? ""}`.includes(`\0${marker}\0`)) return true;
      at = parseStat(this.#files.text(`${at}/stat`) ?? "")?.parent ?? 0;
    }
    return false;
  }

  #nameOf(pid: number): string {
    const name = parseStat(this.#files.text(`${pid}/stat`) ?? "")?.comm;
    return `process ${pid}${name === undefined ? "" : ` (${name})`}`;
  }
}
