/** Benchmark of the watcher: its memory and its processor time. */

import type { Signals } from "@service/core";
import { readLocal, type Run, startRun } from "../stack.ts";
import type { Row } from "./row.ts";
import { command } from "../command.ts";

const SECONDS = 20;

/** Figures of `service-run` itself. */
export async function benchRun(directory: string): Promise<Row[]> {
  return [
    ...await benchWatcher(directory, 1),
    ...await benchWatcher(directory, 50),
  ];
}

/** Memory and processor time of the watcher for a workload of `processes` sleeping processes. */
async function benchWatcher(directory: string, processes: number): Promise<Row[]> {
  const script = `for i in $(seq ${processes - 1}); do sleep 1000 & done; exec sleep 1000`;
  const run = startRun(["bash", "-c", script], { directory });
  const { percent, bytes, payload } = await watcherCost(run);
  const pids = payload.resources.flatMap(({ tags }) => tags["process.pid"] ?? []);
  for (const pid of pids) Deno.kill(Number(pid), "SIGKILL");
  await run.ended;
  const workload = `${pids.length} process${pids.length === 1 ? "" : "es"}`;
  return [
    {
      what: `watcher, resident memory, ${workload}`,
      figure: bytes / 1e6,
      unit: "MB",
      target: { atMost: 80 },
      comparison: { what: "an idle Deno.serve", figure: await idleServer() / 1e6 },
    },
    {
      what: `watcher, processor time, ${workload}`,
      figure: percent,
      unit: "% of a core",
      target: { atMost: 1 },
    },
  ];
}

/** Cost of a run's watcher. */
export interface WatcherCost {
  /** Share of a core. */
  percent: number;
  /** Resident memory. */
  bytes: number;
  /** The last payload. */
  payload: Signals;
}

/** The cost of the watcher of a run that has just started, over {@linkcode SECONDS}. */
export async function watcherCost(run: Run): Promise<WatcherCost> {
  // Reading /signals costs processor time too: once before, once after, and not between.
  const pause = (seconds: number) => new Promise((done) => setTimeout(done, seconds * 1_000));
  await run.url;
  await pause(5);
  const before = cost(await readLocal(run));
  await pause(SECONDS);
  const payload = await readLocal(run);
  const after = cost(payload);
  const seconds = after.covered_seconds - before.covered_seconds;
  const percent = (after.cpu_seconds - before.cpu_seconds) / seconds * 100;
  return { percent, bytes: after.bytes, payload };
}

function cost({ metrics }: Signals) {
  const stats = (name: string) => metrics.find((metric) => metric.name === name)!.stats;
  const covered = stats("profiler_covered_nanoseconds");
  const cpu = stats("profiler_cpu_seconds");
  const memory = stats("profiler_memory_usage_bytes");
  return {
    covered_seconds: "total" in covered ? Number(covered.total) / 1e9 : NaN,
    cpu_seconds: "total" in cpu ? Number(cpu.total) : NaN,
    bytes: "value" in memory ? Number(memory.value) : NaN,
  };
}

/** Resident bytes of a server that does nothing. */
async function idleServer(): Promise<number> {
  const code = "Deno.serve({ port: 0, onListen() {} }, () => new Response());" +
    "setTimeout(() => { console.log(Deno.memoryUsage().rss); Deno.exit() }, 1000)";
  const { stdout } = await command([Deno.execPath(), "eval", code]).output();
  return Number(new TextDecoder().decode(stdout));
}
