/** The series of one process, or of many that have theirs together: everything is added up. */

import type { Tags } from "@service/core";
import { OTHER_FRAME } from "@service/core/limits";
import type { Recorder } from "../recorder.ts";
import { CpuCounters, type CpuTime } from "./cpu_time.ts";

const CPU_NAMES = { user: "process_user_cpu_seconds", system: "process_system_cpu_seconds" };

/** Series with the same tags; times and gauges of one sample are added up until it is recorded. */
export class ProcessSeries {
  readonly tags: Tags;
  readonly #cpu: CpuCounters;
  readonly #gauges = new Map<string, number>();
  /** Whether they are of one process. */
  readonly isOwn: boolean;

  /** Series without a value; gauges of many fall to zero when nothing is added. */
  constructor(tags: Tags, { isOwn }: { isOwn: boolean }) {
    this.tags = Object.freeze(tags);
    this.#cpu = new CpuCounters(CPU_NAMES, this.tags);
    this.isOwn = isOwn;
  }

  /** Adds processor time. */
  cpu(time: CpuTime): void {
    this.#cpu.add(time);
  }

  /** Adds to a gauge. */
  gauge(name: string, value: number): void {
    this.#gauges.set(name, (this.#gauges.get(name) ?? 0) + value);
  }

  /** Records the sample. */
  record(recorder: Recorder): void {
    this.#cpu.record(recorder);
    for (const [name, value] of this.#gauges) {
      recorder.gauge(name, this.tags, value);
      if (!this.isOwn) this.#gauges.set(name, 0);
    }
    if (this.isOwn) this.#gauges.clear();
  }
}

/** Series of one process. */
export function ownSeries(pid: number): ProcessSeries {
  return new ProcessSeries({ "process.pid": String(pid) }, { isOwn: true });
}

/** Commands that have series of their own; processes of all others have theirs together. */
const MAX_COMMANDS = 100;

/** Series of processes that have none of their own, one set for each command. */
export class CommandSeries {
  readonly #byCommand = new Map<string, ProcessSeries>();

  /** The series of the processes of a command. */
  of(command: string): ProcessSeries {
    const known = this.#byCommand.get(command);
    if (known) return known;
    if (this.#byCommand.size >= MAX_COMMANDS && command !== OTHER_FRAME) {
      return this.of(OTHER_FRAME);
    }
    const series = new ProcessSeries({ "process.command": command }, { isOwn: false });
    this.#byCommand.set(command, series);
    return series;
  }

  /** Records the sample. */
  record(recorder: Recorder): void {
    for (const series of this.#byCommand.values()) series.record(recorder);
  }
}
