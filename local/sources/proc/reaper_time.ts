/** What the reaper of a run has waited for: the workload's first process, and orphans. */

import type { ProcFiles } from "../../base/proc_files.ts";
import { parseStat } from "../../base/proc_text.ts";
import { type CpuTime, cpuTimeOfTicks, cpuTimeSince, NO_CPU_TIME } from "./cpu_time.ts";

/** The process that waits for the workload's first process, and for orphans where it can. */
export interface Reaper {
  pid: number;
  /** All that it had waited for at the workload's end, once that is known. */
  waited?: () => CpuTime | null;
}

/** Follows the processor time that a reaper has waited for. */
export class ReaperTime {
  readonly #reaper: Reaper;
  readonly #files: ProcFiles;
  /** Its first reading: it may have waited for others before. */
  #base: { start_ticks: number; time: CpuTime } | undefined;
  #last: CpuTime = NO_CPU_TIME;

  /** The time of a reaper, from its first reading on. */
  constructor(reaper: Reaper, files: ProcFiles) {
    this.#reaper = reaper;
    this.#files = files;
  }

  /** What it has waited for since the last call. */
  gained(): CpuTime {
    const now = this.#reaper.waited?.() ?? this.#read();
    const gained = cpuTimeSince(this.#last, now);
    this.#last = now;
    return gained;
  }

  #read(): CpuTime {
    const stat = parseStat(this.#files.text(`${this.#reaper.pid}/stat`) ?? "");
    if (!stat) return this.#last;
    const { start_ticks } = stat;
    const time = cpuTimeOfTicks(stat.waited_user_ticks, stat.waited_system_ticks);
    this.#base ??= { start_ticks, time };
    return start_ticks === this.#base.start_ticks
      ? cpuTimeSince(this.#base.time, time)
      : this.#last;
  }
}
