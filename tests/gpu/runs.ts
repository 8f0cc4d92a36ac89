/** Runs of workloads, with and without `service-run`, and the values of the final payload. */

import { decode, type Signals, signals } from "@service/core";
import { command } from "../command.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** How CUDA graphs are reported. */
export type GraphMode = "graph" | "node";

/** Output and final payload of a profiled run. */
export interface Profiled {
  stdout: string;
  payload: Signals;
}

/** Value (nanoseconds in most profiles) and samples of a frame. */
export interface Share {
  value: number;
  samples: number;
}

/** Runs a command by itself. */
export async function plain(
  words: string[],
  env: Record<string, string> = {},
): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await command(words, { env, stdin: "null" }).output();
  const errors = new TextDecoder().decode(stderr);
  if (code !== 0) throw new Error(`${words.join(" ")} ends with ${code}: ${errors}`);
  return { stdout: new TextDecoder().decode(stdout), stderr: errors };
}

/** Runs a command under `service-run`. */
export async function profiled(
  command: string[],
  mode: GraphMode,
  env: Record<string, string> = {},
): Promise<Profiled> {
  const file = await Deno.makeTempFile();
  try {
    const launcher = [Deno.execPath(), "run", "-A", "--quiet", `${ROOT}mod.ts`];
    const options = ["--listen-port", "0", "--cuda-graph-trace", mode, "--"];
    const { stdout } = await plain([...launcher, ...options, ...command], {
      SERVICE_SNAPSHOT_FILE: file,
      ...env,
    });
    return { stdout, payload: signals.check(decode(await Deno.readTextFile(file))) };
  } finally {
    await Deno.remove(file);
  }
}

/** Frames of a profile, over all processes and devices. */
export function frames({ metrics }: Signals, name: string): Map<string, Share> {
  const sums = new Map<string, Share>();
  for (const metric of metrics) {
    if (metric.name !== name || metric.type !== "profile") continue;
    for (const frame of metric.stats.frames) {
      const { value, samples } = sums.get(frame.name) ?? { value: 0, samples: 0 };
      sums.set(frame.name, {
        value: value + Number(frame.value),
        samples: samples + frame.samples,
      });
    }
  }
  return sums;
}

/** The sum of a counter over all its series, or `null` if there is none. */
export function total({ metrics }: Signals, name: string): number | null {
  let sum: number | null = null;
  for (const metric of metrics) {
    if (metric.name !== name || metric.type !== "counter") continue;
    sum = (sum ?? 0) + Number(metric.stats.total);
  }
  return sum;
}
