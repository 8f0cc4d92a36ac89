/** Processes and their host, each as one set of facts. */

import { UNSEEN_SECONDS } from "../ended.ts";
import { nsFromTs } from "../time.ts";
import type { Resource } from "../window.ts";
import { inUnit } from "./level.ts";
import type { HostFacts, ProcessFacts } from "./process_facts.ts";
import type { Reading } from "./reading.ts";

/** Metrics that name processes. */
const CPU = ["process_user_cpu_seconds", "process_system_cpu_seconds"] as const;
/** Processor time that no series of a process has. */
const ENDED_CPU = ["process_ended_user_cpu_seconds", "process_ended_system_cpu_seconds"] as const;

/** The processes of a reading, the busiest first. */
export function processesOf(reading: Reading): ProcessFacts[] {
  const resources = new Map<string, Resource>();
  let newest = -Infinity;
  for (const resource of reading.window.resources.values()) {
    const pid = resource.tags["process.pid"];
    if (resource.kind !== "process" || pid === undefined) continue;
    resources.set(pid, resource);
    newest = Math.max(newest, resource.last_seen_ts);
  }
  const pids = new Set(resources.keys());
  const commands = new Set<string>();
  for (const metric of CPU) {
    for (const { tags } of reading.series(metric)) {
      if (tags["process.pid"] !== undefined) pids.add(tags["process.pid"]);
      else if (tags["process.command"] !== undefined) commands.add(tags["process.command"]);
    }
  }
  const all = [
    ...Array.from(pids, (pid) => processOf(reading, pid, resources.get(pid), newest)),
    ...Array.from(commands, (command) => ({
      ...numbersOf(reading, { "process.command": command }, reading.seconds),
      pid: null,
      parent_pid: null,
      command_line: command,
      rank: null,
      attributes: {},
      has_ended: false,
    })),
  ];
  const cpus = ({ user_cpus, system_cpus }: ProcessFacts) => (user_cpus ?? 0) + (system_cpus ?? 0);
  return all.sort((a, b) => cpus(b) - cpus(a) || compare(a.pid, b.pid));
}

function compare(a: string | null, b: string | null): number {
  return Number(a ?? Infinity) - Number(b ?? Infinity) || 0;
}

function processOf(
  reading: Reading,
  pid: string,
  resource: Resource | undefined,
  newest: number,
): ProcessFacts {
  const attributes = resource?.attributes ?? {};
  const has_ended = resource !== undefined && resource.last_seen_ts < newest - UNSEEN_SECONDS;
  return {
    pid,
    parent_pid: attributes["process.parent_pid"] ?? null,
    command_line: attributes["process.command_line"] ?? null,
    rank: attributes["process.rank"] ?? null,
    attributes,
    has_ended,
    ...numbersOf(reading, { "process.pid": pid }, lifeOf(reading, resource, has_ended)),
  };
}

/** Seconds of the reading in which a process ran. */
function lifeOf(reading: Reading, resource: Resource | undefined, has_ended: boolean): number {
  if (!resource) return reading.seconds;
  let seconds = 0;
  for (const { from_ns, to_ns, seconds: covered } of reading.steps) {
    const last_ns = nsFromTs(resource.last_seen_ts + 1);
    const from = Math.max(Number(from_ns), Number(nsFromTs(resource.first_seen_ts)));
    const to = has_ended ? Math.min(Number(to_ns), Number(last_ns)) : Number(to_ns);
    const whole = Number(to_ns - from_ns);
    if (to > from && whole > 0) seconds += covered * (to - from) / whole;
  }
  return Math.max(seconds, Math.min(1, reading.seconds));
}

type Numbers = Omit<
  ProcessFacts,
  "pid" | "parent_pid" | "command_line" | "rank" | "attributes" | "has_ended"
>;

function numbersOf(reading: Reading, of: Record<string, string>, seconds: number): Numbers {
  const rate = (name: string) => {
    const total = reading.total(`process_${name}`, of);
    return total === null || seconds <= 0 ? null : total / seconds;
  };
  return {
    seconds,
    user_cpus: rate("user_cpu_seconds"),
    system_cpus: rate("system_cpu_seconds"),
    threads: reading.newest("process_threads", of),
    memory_bytes: reading.level("process_memory_usage_bytes", of),
    voluntary_switches_per_second: rate("context_switches_voluntary_total"),
    involuntary_switches_per_second: rate("context_switches_involuntary_total"),
    storage_read_bytes_per_second: rate("storage_read_bytes"),
    storage_write_bytes_per_second: rate("storage_write_bytes"),
  };
}

/** The host of a reading. */
export function hostOf(reading: Reading, name: string | undefined): HostFacts {
  const resource = [...reading.window.resources.values()].find(({ kind }) => kind === "host");
  const share = (metric: string, of: Record<string, string> = {}) =>
    inUnit(reading.level(metric, of), (value) => value / 100);
  const modes = tagsOf(reading, "host_cpu_mode_percent", "mode");
  return {
    name: name ?? null,
    cpus: Number(resource?.attributes["host.cpu_count"]) || null,
    run_cpus: runCpusOf(reading),
    cpu: share("host_cpu_usage_percent"),
    cpu_modes: Object.fromEntries(
      modes.flatMap((mode) => {
        const level = share("host_cpu_mode_percent", { mode });
        return level ? [[mode, level]] : [];
      }),
    ),
    memory_total_bytes: reading.newest("host_memory_total_bytes"),
    memory_used_bytes: reading.level("host_memory_usage_bytes"),
    swap_used_bytes: reading.level("host_swap_usage_bytes"),
    stalled: stallsOf(reading),
    disks: tagsOf(reading, "host_disk_read_bytes", "device").map((device) => ({
      name: device,
      read_bytes_per_second: reading.rate("host_disk_read_bytes", { device }) ?? 0,
      written_bytes_per_second: reading.rate("host_disk_write_bytes", { device }) ?? 0,
    })),
    networks: tagsOf(reading, "host_network_receive_bytes", "interface").map((one) => ({
      name: one,
      received_bytes_per_second: reading.rate("host_network_receive_bytes", { interface: one }) ??
        0,
      sent_bytes_per_second: reading.rate("host_network_transmit_bytes", { interface: one }) ?? 0,
    })),
  };
}

/** Processors in use by the run: series of processes, and what no series of a process has. */
function runCpusOf(reading: Reading): number | null {
  const rates = [...CPU, ...ENDED_CPU].flatMap((metric) => reading.rate(metric) ?? []);
  return rates.length > 0 ? rates.reduce((total, rate) => total + rate, 0) : null;
}

/** Pressure stalls (Linux PSI): exact where the counter of microseconds is there. */
function stallsOf(reading: Reading): HostFacts["stalled"] {
  return reading.series("host_pressure_stall_microseconds").flatMap((series) => {
    const { resource = "", kind = "" } = series.tags;
    const rate = reading.rate("host_pressure_stall_microseconds", { resource, kind });
    return rate === null ? [] : [{ resource, kind, share: rate / 1e6 }];
  });
}

function tagsOf(reading: Reading, metric: string, tag: string): string[] {
  return [...new Set(reading.series(metric).flatMap(({ tags }) => tags[tag] ?? []))].sort();
}
