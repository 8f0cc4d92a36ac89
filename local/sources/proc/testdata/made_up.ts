/** Made-up processes: a folder that looks like `/proc`, and what a source makes of it. */

import assert from "node:assert/strict";
import type { Resource, Window } from "@service/core";
import { rounded } from "@service/core/sum";
import { Recorder } from "../../recorder.ts";
import type { Source } from "../../source.ts";
import { createProcessSource, type ProcessSourceOptions } from "../processes.ts";

/** Pid of the made-up reaper of a run. */
export const REAPER = 3;
/** The entry in the environment of the run's processes. */
export const MARKER: string = `SERVICE_INSTANCE_ID=${crypto.randomUUID()}`;

/** A source of the processes below `root`. */
export function watch(root: number, options: Partial<ProcessSourceOptions> = {}): Source {
  // This process may have the pid of a made-up one.
  const self = options.proc === undefined ? Deno.pid : 2;
  return createProcessSource({ root, marker: MARKER, reaper: { pid: REAPER }, self, ...options });
}

/** The window of one sample. */
export async function sampled(source: Source): Promise<Window> {
  const recorder = new Recorder(0n, () => 1n);
  await source.sample(recorder);
  return recorder.cut(1n);
}

/** Pids that have series. */
export function pidsOf({ series }: Window): Set<string> {
  const pids = Array.from(series.values(), ({ tags }) => tags["process.pid"]);
  return new Set(pids.filter((pid) => pid !== undefined));
}

/** Value of a gauge, or the increase of a counter. */
export function valueOf({ series }: Window, name: string, pid: string): number | undefined {
  for (const entry of series.values()) {
    if (entry.name !== name || entry.tags["process.pid"] !== pid) continue;
    if (entry.type === "gauge") return Number(entry.value);
    if (entry.type === "counter") return rounded(entry.total);
  }
}

/** What a process is described by. */
export function resource({ resources }: Window, pid: string): Resource {
  const found = [...resources.values()].find(({ tags }) => tags["process.pid"] === pid);
  assert.ok(found, `no resource ${pid}`);
  return found;
}

/** The increase of a counter in a window, to the microsecond. */
export function totalOf({ series }: Window, name: string): number | undefined {
  const found = [...series.values()].find((entry) => entry.name === name);
  return found?.type === "counter" ? Math.round(rounded(found.total) * 1e6) / 1e6 : undefined;
}

/** What a made-up process says of itself. */
export interface MadeUpProcess {
  parent?: number;
  comm?: string;
  state?: string;
  user_ticks?: number;
  system_ticks?: number;
  /** Of children that it has waited for. */
  waited_ticks?: [user: number, system: number];
  start_ticks?: number;
  threads?: number;
  environ?: string;
}

/** A folder that looks like `/proc` of a machine with two processors. */
export class MadeUp implements Disposable {
  readonly folder: string = Deno.makeTempDirSync();

  /** A machine without processes. */
  constructor() {
    this.#write("stat", "cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu1 1 2 3 4\n");
  }

  /** Writes a process anew. */
  process(pid: number, options: MadeUpProcess): void {
    const { parent = 1, comm = "a b", state = "S", user_ticks = 0, start_ticks = 100 } = options;
    const { threads = 1, environ = "", system_ticks = 0, waited_ticks = [0, 0] } = options;
    const ticks = [user_ticks, system_ticks, ...waited_ticks].join(" ");
    Deno.mkdirSync(`${this.folder}/${pid}/fd`, { recursive: true });
    const status = `Name:\ta\nVmSize:\t8 kB\nVmRSS:\t4 kB\nThreads:\t${threads}\n`;
    const counts = `0 0 0 0 0 0 0 0 0 ${ticks} 20 0 ${threads} 0 ${start_ticks} 0 0`;
    this.#write(`${pid}/stat`, `${pid} (${comm}) ${state} ${parent} ${counts}\n`);
    this.#write(`${pid}/status`, `${status}${switches(1)}`);
    this.#write(`${pid}/io`, "rchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\n");
    this.#write(`${pid}/environ`, environ);
    this.#write(`${pid}/cmdline`, "");
  }

  /** Removes a process. */
  gone(pid: number): void {
    Deno.removeSync(`${this.folder}/${pid}`, { recursive: true });
  }

  /** Writes the threads of a process, each with so many switches. */
  threads(pid: number, count: number, times: number): void {
    for (let id = pid; id < pid + count; id++) {
      Deno.mkdirSync(`${this.folder}/${pid}/task/${id}`, { recursive: true });
      this.#write(`${pid}/task/${id}/status`, `Threads:\t${count}\n${switches(times)}`);
    }
  }

  #write(path: string, text: string): void {
    Deno.writeTextFileSync(`${this.folder}/${path}`, text);
  }

  /** Removes the folder. */
  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

function switches(times: number): string {
  return `voluntary_ctxt_switches:\t${times}\nnonvoluntary_ctxt_switches:\t0\n`;
}
