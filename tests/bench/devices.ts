/**
 * Benchmark of devices: cost of the watcher with eight devices of the fake driver, beyond one without, and
 * of a loop in C that makes the same calls.
 */

import { inTime, start, type Started } from "../command.ts";
import { compile, compiler } from "../doubles/cuda/build.ts";
import { driver } from "../doubles/nvml/build.ts";
import { startRun } from "../stack.ts";
import type { Row } from "./row.ts";
import { watcherCost } from "./run.ts";

const HERE = new URL("./", import.meta.url).pathname;
const DEVICES = 8;
/** Time in which the calls of the loop and of the poller are compared. */
const COMPARED_SECONDS = 6;
/** The metrics of GPM that are asked for. */
const GPM = [2, 3, 5, 10, 11, 12, 13, 20, 21, 60, 61];

/** Figures of devices; none without a C compiler. */
export async function benchDevices(directory: string): Promise<Row[]> {
  if (!compiler) return [];
  const script = `${directory}/devices`;
  const gpm = GPM.map((metric) => `gpm * ${metric} 50000000`);
  await Deno.writeTextFile(script, [`devices ${DEVICES}`, ...gpm].join("\n"));
  const library = await driver();
  const loop = `${directory}/nvml_loop`;
  await compile(loop, [`${HERE}nvml_loop.c`], []);
  await compareCalls(directory, { loop, script, library });
  const peer = start([loop, library], { FAKE_NVML: script });
  const peerBegan_ms = performance.now();
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
  const peerPercent = ranMs(peer.process.pid) / (performance.now() - peerBegan_ms) * 100;
  await end(peer);
  const what = `${DEVICES} devices`;
  return [
    {
      what: `devices, processor time of the watcher, ${what}`,
      figure: recorded.percent - without.percent,
      unit: "% of a core",
      target: { atMost: 0.5 },
      comparison: {
        what: "a C loop of the same calls, values dropped",
        figure: peerPercent,
      },
    },
    {
      what: `devices, processor time of polling, ${what}`,
      figure: dropped.percent - without.percent,
      unit: "% of a core",
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

/** Asserts that the loop makes the calls of the poller: as many of each function in a poll. */
async function compareCalls(
  directory: string,
  { loop, script, library }: { loop: string; script: string; library: string },
): Promise<void> {
  const env = (name: string) => ({ FAKE_NVML: script, FAKE_NVML_LOG: `${directory}/${name}` });
  const peer = start([loop, library], env("loop.log"));
  await using run = startRun(["sleep", "1000"], {
    directory: `${directory}/compared`,
    env: { ...env("own.log"), SERVICE_NVML_LIBRARY: library },
  });
  await run.url;
  await new Promise((resolve) => setTimeout(resolve, COMPARED_SECONDS * 1_000));
  await end(peer);
  const [own, theirs] = await Promise.all(
    ["own.log", "loop.log"].map((name) => callsOfPoll(`${directory}/${name}`)),
  );
  if (own !== theirs) {
    throw new Error(`Cannot compare: a poll calls ${own}; nvml_loop.c calls ${theirs}`);
  }
}

/** Functions and their numbers of calls in the poll before the last. */
async function callsOfPoll(log: string): Promise<string> {
  const calls = (await Deno.readTextFile(log)).trim().split("\n");
  const polls = calls.flatMap((call, at) => call === "nvmlDeviceGetUtilizationRates 0" ? [at] : []);
  const poll = calls.slice(polls.at(-2), polls.at(-1)).map((call) => call.split(" ")[0]!);
  const counts = Map.groupBy(poll, (name) => name);
  return Array.from(counts, ([name, { length }]) => `${name} ${length}`).sort().join(", ");
}

/** Milliseconds for which a process with one thread has run. */
function ranMs(pid: number): number {
  return Number(Deno.readTextFileSync(`/proc/${pid}/schedstat`).split(" ")[0]) / 1e6;
}

async function end(peer: Started): Promise<void> {
  peer.process.kill("SIGTERM");
  await inTime(peer, peer.ended);
}
