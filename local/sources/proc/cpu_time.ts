/** Processor time: whole microseconds, so that sums of it are exact. */

import type { Tags } from "@service/core";
import { CumulativeReadings } from "../cumulative.ts";
import type { Recorder } from "../recorder.ts";

/** Processor time of one process or of many. */
export interface CpuTime {
  user_us: number;
  system_us: number;
}

/** No time. */
export const NO_CPU_TIME: Readonly<CpuTime> = { user_us: 0, system_us: 0 };

/** The kernel's unit, a hundredth of a second on every machine. */
const TICK_US = 10_000;

/** The time of a number of ticks. */
export function cpuTimeOfTicks(user: number, system: number): CpuTime {
  return { user_us: user * TICK_US, system_us: system * TICK_US };
}

/** The sum of two times. */
export function addCpuTimes(a: CpuTime, b: CpuTime): CpuTime {
  return { user_us: a.user_us + b.user_us, system_us: a.system_us + b.system_us };
}

/** The time from `a` to `b`. */
export function cpuTimeSince(a: CpuTime, b: CpuTime): CpuTime {
  return { user_us: b.user_us - a.user_us, system_us: b.system_us - a.system_us };
}

/** Names of the two series that have a processor time. */
export interface CpuNames {
  user: string;
  system: string;
}

/** The two series of a growing time: integers are added up and divided once, so 0.52 s is 0.52. */
export class CpuCounters {
  readonly #names: CpuNames;
  readonly #tags: Tags;
  readonly #readings = new CumulativeReadings("increase");
  #total: CpuTime = NO_CPU_TIME;

  /** Counters that stand at zero. */
  constructor(names: CpuNames, tags: Tags) {
    this.#names = names;
    this.#tags = tags;
  }

  /** Adds to the time. */
  add(time: CpuTime): void {
    this.#total = addCpuTimes(this.#total, time);
  }

  /** Records what was added since the last record. */
  record(recorder: Recorder): void {
    const { user, system } = this.#names;
    this.#record(recorder, user, this.#total.user_us);
    this.#record(recorder, system, this.#total.system_us);
  }

  #record(recorder: Recorder, name: string, us: number): void {
    recorder.counter(name, this.#tags, this.#readings.increase(name, us / 1e6));
  }
}
