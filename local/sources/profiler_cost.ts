/** The profiler's own cost. */

import process from "node:process";
import { CumulativeReadings, exactSeconds } from "./cumulative.ts";
import type { Recorder } from "./recorder.ts";
import type { Source } from "./source.ts";

const NO_TAGS = {};

/** A source of this process's CPU time and resident memory. */
export function createProfilerCostSource(): Source {
  const readings = new CumulativeReadings("increase");
  return {
    sample(recorder: Recorder) {
      const { user, system } = process.cpuUsage();
      const seconds = exactSeconds((user + system) / 1e6);
      recorder.counter("profiler_cpu_seconds", NO_TAGS, readings.increase("cpu", seconds));
      recorder.gauge("profiler_memory_usage_bytes", NO_TAGS, Deno.memoryUsage().rss);
    },
  };
}
