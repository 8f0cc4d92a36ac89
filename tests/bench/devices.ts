/** Benchmark of devices: cost of the watcher with eight devices of the fake driver, beyond one without. */

import { compiler } from "../doubles/cuda/build.ts";
import { driver } from "../doubles/nvml/build.ts";
import { startRun } from "../stack.ts";
import type { Row } from "./row.ts";
import { watcherCost } from "./run.ts";

const DEVICES = 8;
/** The metrics of GPM that are asked for. */
const GPM = [2, 3, 5, 10, 11, 12, 13, 20, 21, 60, 61];

/** Figures of devices; none without a C compiler. */
export async function benchDevices(directory: string): Promise<Row[]> {
  if (!compiler) return [];
  const script = `${directory}/devices`;
  const gpm = GPM.map((metric) => `gpm * ${metric} 50000000`);
  await Deno.writeTextFile(script, [`devices ${DEVICES}`, ...gpm].join("\n"));
  const library = await driver();
  const watch = async (env: Record<string, string>) => {
    await using run = startRun(["sleep", "1000"], { directory, env });
    return await watcherCost(run);
  };
  const polled = { SERVICE_NVML_LIBRARY: library, FAKE_NVML: script };
  // At once, so that other work on the machine costs them the same. Two state directories: one polls each.
  const [without, dropped, recorded] = await Promise.all([
    watch({ SERVICE_NVML_LIBRARY: "/nonexistent" }),
    watch({ ...polled, CUDA_VISIBLE_DEVICES: "", SERVICE_STATE_DIR: `${directory}/dropped` }),
    watch({ ...polled, SERVICE_STATE_DIR: `${directory}/recorded` }),
  ]);
  const what = `${DEVICES} devices`;
  return [
    {
      what: `devices, processor time of the watcher, ${what}`,
      figure: recorded.percent - without.percent,
      unit: "% of a core",
      target: { atMost: 0.5 },
      comparison: {
        what: "the same calls, values dropped",
        figure: dropped.percent - without.percent,
      },
    },
    {
      what: `devices, resident memory of polling, ${what}`,
      figure: (dropped.bytes - without.bytes) / 1e6,
      unit: "MB",
      target: { atMost: 4 },
    },
    {
      what: `devices, resident memory of polling and recording, ${what}`,
      figure: (recorded.bytes - without.bytes) / 1e6,
      unit: "MB",
    },
  ];
}
