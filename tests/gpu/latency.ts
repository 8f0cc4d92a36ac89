/** Latency of a launch while devices are polled: NVML takes locks of the driver. */

import { type Finding, finding } from "./finding.ts";
import { medianOf } from "./overhead.ts";
import { profiled } from "./runs.ts";

/** Nanoseconds of a launch. */
type Latencies = Record<typeof QUANTILES[number]["name"], number>;

const PAIRS = 12;
const SECONDS = "5";
const QUANTILES = [
  { name: "p50", atMost: 100 },
  { name: "p99", atMost: 500 },
  { name: "p999", atMost: 5_000 },
] as const;
/** A library that is not there: no device is polled. */
const WITHOUT_POLLING = { SERVICE_NVML_LIBRARY: "/nonexistent" };

/** Compares profiled runs with and without polling, in interleaved pairs. */
export async function measureLatency(workload: string): Promise<Finding[]> {
  const measure = async (env: Record<string, string>): Promise<Latencies> => {
    const { stdout } = await profiled([workload, "latency", SECONDS], "graph", env);
    return JSON.parse(stdout);
  };
  const pairs: [Latencies, Latencies][] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const first = await measure(pair % 2 === 0 ? WITHOUT_POLLING : {});
    const second = await measure(pair % 2 === 0 ? {} : WITHOUT_POLLING);
    pairs.push(pair % 2 === 0 ? [first, second] : [second, first]);
  }
  return QUANTILES.map(({ name, atMost }) => {
    const { median, low, high } = medianOf(
      pairs.map(([without, polled]) => polled[name] - without[name]),
    );
    return finding(
      `polling of devices: ${name} of a launch slower by`,
      `${median} ns (95 %: ${low} to ${high}, ${PAIRS} pairs)`,
      median <= atMost,
      `at most ${atMost} ns`,
    );
  });
}
