/** The table of processes: what they are, what they use; those that are alike are one row. */

import { fenced } from "../quoted.ts";
import type { DeviceFacts, InstanceFacts, ProcessFacts } from "../facts/mod.ts";
import type { Block, Row } from "./section_text.ts";
import { number, row, UNKNOWN } from "./words.ts";

/** Processes with a row of their own. */
const LISTED = 12;

/** What processes are, by what their commands have; the first that fits. */
const ROLES: readonly [role: string, command: RegExp][] = [
  ["compiler", /compile_worker|\b(?:ptxas|nvcc|cicc)\b/],
  ["helper", /resource_tracker|forkserver|semaphore_tracker/],
  ["loader", /data_?loader|pt_data_worker/i],
  ["scheduler", /EngineCore|sglang::scheduler/],
  ["worker", /::Worker|ray::|sglang::(?:tp|pp|dp)/],
  ["detokenizer", /detokenizer/],
  [
    "launcher",
    /\b(?:torchrun|mpirun|mpiexec|srun|deepspeed)\b|accelerate launch|torch\.distributed\.(?:run|launch)/,
  ],
  ["server", /vllm serve|api_server|launch_server|APIServer|\b(?:uvicorn|gunicorn)\b|llama-server/],
];

/** The table of an instance; the first row has `weight`. */
export function processBlocks(facts: InstanceFacts, weight: number): Block[] {
  const { processes } = facts;
  if (processes.length === 0) return [];
  const running = processes.filter(({ has_ended }) => !has_ended);
  const ended = processes.length - running.length;
  const folded = folds(facts, running);
  const rows = folded.slice(0, LISTED).map((one, line): Row => ({
    text: one,
    weight: weight - 4 * line,
  }));
  const more = folded.length - LISTED;
  return [{
    lead: [
      row(
        "process",
        "what it is",
        "CPUs user",
        "CPUs system",
        "threads",
        "memory GB",
        "switches/s voluntary",
        "involuntary",
        "command",
      ),
    ],
    rows,
    also:
      [more > 0 ? `${more} rows of idle processes` : "", ended > 0 ? `${ended} ended` : ""].filter(
        Boolean,
      ).join(", ") || undefined,
  }];
}

/** A row a process; processes of one command that are alike are one row. */
function folds({ devices }: InstanceFacts, processes: readonly ProcessFacts[]): string[] {
  // Alike: the same command, and processor time within a tenth of a processor.
  const groups = Map.groupBy(processes, ({ command_line, user_cpus, system_cpus }) => {
    const cpus = (user_cpus ?? 0) + (system_cpus ?? 0);
    return `${command_line}\n${Math.round(cpus * 10)}`;
  });
  return Array.from(groups.values(), (group) => {
    const mean = (of: (process: ProcessFacts) => number | null) => {
      const known = group.flatMap((process) => of(process) ?? []);
      return known.length > 0 ? known.reduce((sum, one) => sum + one, 0) / known.length : null;
    };
    const [first] = group;
    return row(
      group.length > 1 ? `${group.length} processes, each` : pidOf(first!),
      group.length > 1
        ? roleOf(first!)
        : [roleOf(first!), drivenBy(first!, devices)].filter((part) => part !== UNKNOWN).join(
          ", ",
        ) || UNKNOWN,
      number(mean(({ user_cpus }) => user_cpus)),
      number(mean(({ system_cpus }) => system_cpus)),
      number(mean(({ threads }) => threads)),
      number(mean(({ memory_bytes }) => memory_bytes && memory_bytes.mean / 1e9)),
      number(mean((process) => process.voluntary_switches_per_second)),
      number(mean((process) => process.involuntary_switches_per_second)),
      first!.command_line === null ? "not known" : fenced(first!.command_line, 110),
    );
  });
}

function pidOf({ pid }: ProcessFacts): string {
  if (pid === null) return "sum";
  return /^\d+$/.test(pid) ? pid : fenced(pid, 20);
}

function roleOf({ command_line }: ProcessFacts): string {
  return ROLES.find(([, command]) => command.test(command_line ?? ""))?.[0] ?? UNKNOWN;
}

/** The devices on which a process has work. */
function drivenBy({ pid }: ProcessFacts, devices: readonly DeviceFacts[]): string {
  const driven = devices.flatMap(({ activity, index }, at) =>
    pid !== null && activity?.pids.includes(pid) ? [index ?? at] : []
  );
  if (driven.length === 0) return UNKNOWN;
  return driven.length > 4
    ? `works on ${driven.length} devices`
    : `works on device ${driven.join(", ")}`;
}
