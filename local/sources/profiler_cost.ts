/** What the profiler itself costs. */

import process from "node:process";
import { exactSeconds, Readings } from "./cumulative.ts";
import type { Recorder, Source } from "./recorder.ts";

const NO_TAGS = {};

/** Measures this process: its CPU time and its resident memory. */
export function createSelfSource(): Source {
  const readings = new Readings("counts");
  return {
    sample(recorder: Recorder) {
      const { user, system } = process.cpuUsage();
      const seconds = exactSeconds((user + system) / 1e6);
      recorder.counter("profiler_cpu_seconds", NO_TAGS, readings.increase("cpu", seconds));
      recorder.gauge("profiler_memory_usage_bytes", NO_TAGS, Deno.memoryUsage().rss);
    },
  };
}
