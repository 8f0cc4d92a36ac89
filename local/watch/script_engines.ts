/**
 * Engines of a script: a workload that is not known by its command may become an engine by `exec`, or
 * start some, such as one for each rank.
 */

import { readText } from "../base/files.ts";
import type { ProcFiles } from "../base/proc_files.ts";
import { environment } from "../base/proc_text.ts";
import { detect } from "../engines/detect.ts";
import { type Target, targets } from "../engines/targets.ts";
import { recordCaptureState } from "../sources/capture_state.ts";
import type { Recorder } from "../sources/recorder.ts";
import type { Source } from "../sources/source.ts";

/** The workload to look at. */
export interface ScriptEnginesOptions {
  /** The workload's first process. */
  pid: number;
  /** The process whose children orphans of the workload become. */
  reaper: number;
  files: ProcFiles;
  /** The reason why its command names no endpoint. */
  reason: string;
  /** The source of an endpoint, whose key may be in `env`; `among` says whether there may be others. */
  open(target: Target, process: { env: Record<string, string>; among: boolean }): Source;
}

/** Most processes that are looked at, those nearest to the first: engines are not deep in the tree. */
const MAX_PROCESSES = 64;

/** A process by its command line. */
interface Known {
  command: string;
  env: Record<string, string>;
  /** Its endpoints if it is an engine: none with a reason. */
  engine?: { targets: Target[]; reason?: string };
}

/** A source of the engines near the first process; while there are none it says why. */
export function createScriptEnginesSource(options: ScriptEnginesOptions): Source {
  return new ScriptEngines(options);
}

class ScriptEngines implements Source {
  readonly #options: ScriptEnginesOptions;
  #known = new Map<number, Known>();
  /** By URL. */
  readonly #sources = new Map<string, Source>();
  #isSettled = false;

  constructor(options: ScriptEnginesOptions) {
    this.#options = options;
  }

  async sample(recorder: Recorder): Promise<void> {
    if (!this.#isSettled) this.#look();
    const engines = [...this.#known.values()].flatMap(({ engine }) => engine ?? []);
    const here = new Set(engines.flatMap(({ targets }) => targets.map(({ url }) => url)));
    for (const [url, source] of [...this.#sources]) {
      if (!here.has(url)) {
        this.#sources.delete(url);
        await source.settle?.();
      }
      await source.sample(recorder);
    }
    const lacking = new Set(engines.flatMap(({ reason }) => reason ?? []));
    if (engines.length === 0) lacking.add(this.#options.reason);
    for (const reason of lacking) {
      recordCaptureState(recorder, { capture: "engine_metrics", captured: false, reason });
    }
  }

  hurry(): void {
    for (const source of this.#sources.values()) source.hurry?.();
  }

  async settle(): Promise<void> {
    this.#isSettled = true;
    await Promise.all(Array.from(this.#sources.values(), (source) => source.settle?.()));
  }

  /** Looks at the first process, those that it has started, and orphans, but not below an engine. */
  #look(): void {
    const { pid: first, reaper, files, open } = this.#options;
    const known = new Map<number, Known>();
    const pids = new Set([first, ...this.#children(reaper).slice(0, MAX_PROCESSES)]);
    for (const pid of pids) {
      const command = files.text(`${pid}/cmdline`);
      const before = this.#known.get(pid);
      const process = before?.command === command ? before : this.#read(pid, command);
      if (process) known.set(pid, process);
      if (process?.engine) {
        const { engine: { targets }, env } = process;
        const among = pid !== first || targets.length > 1;
        for (const target of targets) {
          if (!this.#sources.has(target.url)) {
            this.#sources.set(target.url, open(target, { env, among }));
          }
        }
        continue;
      }
      for (const child of this.#children(pid)) if (pids.size < MAX_PROCESSES) pids.add(child);
    }
    this.#known = known;
  }

  #children(pid: number): number[] {
    const text = this.#options.files.text(`${pid}/task/${pid}/children`) ?? "";
    return text.split(" ").filter(Boolean).map(Number);
  }

  #read(pid: number, command: string | null): Known | undefined {
    if (!command) return undefined;
    const env = environment(this.#options.files.text(`${pid}/environ`) ?? "");
    const words = command.replace(/\0$/, "").split("\0");
    const detection = detect(words, { env, readText, isRunning: true });
    const { engine, reason } = detection;
    const found = { targets: targets({}, detection), ...(reason !== undefined && { reason }) };
    return { command, env, ...(engine !== undefined && { engine: found }) };
  }
}
