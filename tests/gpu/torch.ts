/** Checks with PyTorch: sums compared with torch.profiler's, worker processes, and both profilers at once. */

import { type Finding, finding, observation } from "./finding.ts";
import { frames, plain, profiled, type Share } from "./runs.ts";

const LOOP = new URL("torch_loop.py", import.meta.url).pathname;
const KINDS = ["eager", "compile", "graph"];
const STEPS = 2000;
const WORKERS = 2;

/** Whether python3 has torch, and torch a GPU. */
export async function hasTorch(): Promise<boolean> {
  const code = "import torch; assert torch.cuda.is_available()";
  return await plain(["python3", "-c", code]).then(() => true, () => false);
}

/** All checks with torch. */
export async function* checkTorch(): AsyncGenerator<Finding> {
  for (const kind of KINDS) yield* await compare(kind);
  yield await checkGraphMode();
  yield await checkWorkers();
  yield* await checkUnderProfiler();
}

function loop(kind: string, steps: number, ...options: string[]): string[] {
  return ["python3", LOOP, kind, String(steps), ...options];
}

/** Compares torch.profiler's run with the difference of two profiled runs: `2 * STEPS` and `STEPS`. */
async function compare(kind: string): Promise<Finding[]> {
  const { stdout } = await plain(loop(kind, STEPS, "--profile"));
  const theirs = sumOf(readSums(stdout).values());
  const short = sumOf((await kernelsOf(loop(kind, STEPS))).values());
  const long = sumOf((await kernelsOf(loop(kind, 2 * STEPS))).values());
  const count = long.samples - short.samples;
  const share = (long.value - short.value) / theirs.value;
  return [
    finding(
      `torch, ${kind}: kernels`,
      String(count),
      count === theirs.samples,
      String(theirs.samples),
    ),
    finding(
      `torch, ${kind}: kernel time relative to torch.profiler's`,
      `${(share * 100).toFixed(2)} %`,
      Math.abs(share - 1) <= 0.01,
      "99 to 101 %",
    ),
  ];
}

async function kernelsOf(command: string[]): Promise<Map<string, Share>> {
  return frames((await profiled(command, "node")).payload, "cuda_kernels_nanoseconds");
}

/** What `torch_loop.py --profile` prints. */
function readSums(stdout: string): Map<string, Share> {
  const line = stdout.trim().split("\n").findLast((line) => line.startsWith("{")) ?? "{}";
  const sums: Record<string, [number, number]> = JSON.parse(line);
  return new Map(
    Object.entries(sums).map(([name, [microseconds, samples]]) => [
      name,
      { value: microseconds * 1000, samples },
    ]),
  );
}

function sumOf(shares: Iterable<Share>): Share {
  const sum = { value: 0, samples: 0 };
  for (const { value, samples } of shares) {
    sum.value += value;
    sum.samples += samples;
  }
  return sum;
}

async function checkGraphMode(): Promise<Finding> {
  const { payload } = await profiled(loop("graph", STEPS), "graph");
  const graphs = frames(payload, "cuda_graphs_nanoseconds");
  // The loop launches the graph three times more, to warm up.
  const found = Array.from(graphs, ([name, { samples }]) => `${name}: ${samples}`).join(", ");
  const [name = "", { samples } = { samples: 0 }] = [...graphs][0] ?? [];
  const holds = graphs.size === 1 && samples === STEPS + 3 && /^[0-9a-f]{16}$/.test(name);
  return finding("torch, graph mode: replays", found, holds, `one signature: ${STEPS + 3}`);
}

async function checkWorkers(): Promise<Finding> {
  const { payload } = await profiled(loop("eager", 200, "--workers", String(WORKERS)), "graph");
  const processes = new Set<string>();
  for (const { name, type, tags, stats } of payload.metrics) {
    if (name !== "cuda_kernels_nanoseconds" || type !== "profile") continue;
    if (stats.frames.length > 0) processes.add(tags["process.pid"]!);
  }
  const found = processes.size;
  return finding("processes of a fork server", String(found), found === WORKERS, String(WORKERS));
}

async function checkUnderProfiler(): Promise<Finding[]> {
  const { stdout, payload } = await profiled(loop("eager", STEPS, "--profile"), "graph");
  const theirs = sumOf(readSums(stdout).values()).samples;
  const ours = sumOf(frames(payload, "cuda_kernels_nanoseconds").values()).samples;
  const states = payload.metrics.filter(({ name }) => name === "profiler_capture_state");
  return [
    finding("torch.profiler under service-run: its kernels", String(theirs), theirs > 0, "some"),
    observation(
      "torch.profiler under service-run: our kernels, of as many before and after",
      String(ours),
    ),
    observation(
      "torch.profiler under service-run: capture state",
      JSON.stringify(states.map(({ tags }) => tags)),
    ),
  ];
}
