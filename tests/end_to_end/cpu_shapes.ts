/**
 * Processor time of workloads of many shapes, as the last document of their run has it and as getrusage
 * has it. `deno run -A tests/end_to_end/cpu_shapes.ts` prints the table of `docs/profiling.md`.
 */

import { decode, type Signals, signals } from "@service/core";
import { startRun } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

const SCRIPT = new URL("cpu_shapes.py", import.meta.url).pathname;

/** Shapes of workloads: the word for the script, and what it is. */
export const SHAPES: Readonly<Record<string, string>> = {
  one_process: "one process of 0.9 s",
  one_child: "one child of 0.9 s",
  ten_in_turn: "10 children of 150 ms, one after the other",
  hundred_in_turn: "100 children of 15 ms, one after the other",
  eight_at_once: "8 children of 200 ms at once",
  threads: "4 threads of 300 ms",
  system_time: "copies in the kernel, 0.8 s",
  nested: "5 generations, each works before and after its child",
  shell_loop: "a shell's loop of 150 `sh -c`",
  shell_programs: "a shell's loop of 400 `/bin/true`",
  pipeline: "a pipeline of three programs",
  exec: "a shell that becomes another program",
  daemon: "a daemon of 0.9 s, which ends before the command",
  five_daemons: "5 daemons of 250 ms at once",
  daemon_with_children: "a daemon with 15 children of 50 ms",
  killed_child: "a child that is killed while it works",
  unreaped_children: "4 children that are waited for long after their end",
  beside_a_worker: "20 children of 30 ms beside one of 1 s",
  ended_by_a_signal: "a command that is killed",
};

/** Seconds of processor time of one run. */
export interface Measured {
  /** Of the first process, of all that was waited for, and of orphans. */
  getrusage: number;
  /** The sum of all series. */
  document: number;
}

/** Runs a workload of `shape`, one of {@linkcode SHAPES}. */
export async function measure(shape: string): Promise<Measured> {
  await using directory = await temporaryDirectory();
  const [truth, file] = [`${directory.path}/truth`, `${directory.path}/last.json`];
  const env = { SERVICE_SNAPSHOT_FILE: file };
  await using run = startRun(["python3", SCRIPT, shape, truth], { directory: directory.path, env });
  await run.ended;
  const lines = (await Deno.readTextFile(truth)).trim().split("\n");
  return {
    getrusage: lines.reduce((sum, line) => sum + Number(line), 0),
    document: cpuSeconds(signals.check(decode(await Deno.readTextFile(file)))),
  };
}

/** Processor time of all processes, those that have ended included. */
export function cpuSeconds({ metrics }: Signals): number {
  return metrics.reduce((sum, { name, stats }) => {
    if (!/^process_(ended_)?(user|system)_cpu_seconds$/.test(name)) return sum;
    return sum + ("total" in stats ? Number(stats.total) : 0);
  }, 0);
}

if (import.meta.main) {
  console.log("| command | getrusage | document | difference |\n| --- | --- | --- | --- |");
  for (const [shape, text] of Object.entries(SHAPES)) {
    const { getrusage, document } = await measure(shape);
    const percent = (document / getrusage - 1) * 100;
    console.log(
      `| ${text} | ${getrusage.toFixed(3)} s | ${document.toFixed(3)} s | ${
        percent.toFixed(2)
      } % |`,
    );
  }
}
