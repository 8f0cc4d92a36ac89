/** The profiler's own cost. */

import { openProcessorClock } from "../base/native.ts";
import { CumulativeReadings } from "./cumulative.ts";
import type { Recorder } from "./recorder.ts";
import type { Source } from "./source.ts";

const NO_TAGS = {};

/** A source of this process's CPU time and resident memory. */
export function createProfilerCostSource(): Source {
  const readings = new CumulativeReadings("increase");
  const used_ns = openProcessorClock();
  return {
    sample(recorder: Recorder) {
      if (used_ns) {
        const increase = readings.increase("cpu", used_ns() / 1e9);
        recorder.counter("profiler_cpu_seconds", NO_TAGS, increase);
      }
      recorder.gauge("profiler_memory_usage_bytes", NO_TAGS, Deno.memoryUsage().rss);
    },
  };
}
