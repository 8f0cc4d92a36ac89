/** The section on hosts: processors, memory, storage, network, and the busiest processes. */

import { fenced, named } from "../quoted.ts";
import type { HostFacts, InstanceFacts, ProcessFacts } from "../facts/mod.ts";
import type { Block, Row, SectionText } from "./section_text.ts";
import { labelsOf, type Subject } from "./subject.ts";
import { number, percent, rangeOf, row } from "./words.ts";

/** Processes with a row of their own. */
const LISTED = 12;
/** Instances whose processes are listed. */
const DETAILED = 3;

/** Hosts. */
export function hostSection({ instances }: Subject): SectionText {
  const labelOf = labelsOf(instances);
  const linesOf = (facts: InstanceFacts, at: number) => {
    const label = instances.length > 1 ? `on ${labelOf(facts)}: ` : "";
    return hostLines(facts.host).map((text, line): Row => ({
      text: `- ${label}${text}`,
      weight: 400 - 20 * at - line,
    }));
  };
  const blocks = instances.slice(0, DETAILED).flatMap((facts, at): Block[] => [
    { lead: [], rows: linesOf(facts, at) },
    processBlock(facts, at),
  ]);
  const others = instances.slice(DETAILED)
    .flatMap((facts, at) => linesOf(facts, DETAILED + at).slice(0, 1));
  if (others.length > 0) blocks.push({ lead: [], rows: others, of: "hosts" });
  return { section: "host", title: "Host and processes", blocks };
}

function hostLines(host: HostFacts): string[] {
  const modes = Object.entries(host.cpu_modes).filter(([, { mean }]) => mean >= 0.005)
    .map(([mode, { mean }]) => `${named(mode, 20)} ${percent(mean)} %`).join(", ");
  const stalled = host.stalled.filter(({ share }) => share >= 0.005)
    .map(({ resource, kind, share }) =>
      `${named(resource, 20)} ${named(kind, 20)} ${percent(share)} %`
    ).join(", ");
  const disks = host.disks.filter((disk) =>
    disk.read_bytes_per_second + disk.written_bytes_per_second > 1e5
  )
    .map((disk) =>
      `${named(disk.name, 30)} ${number(disk.read_bytes_per_second / 1e6)} read, ${
        number(disk.written_bytes_per_second / 1e6)
      } written`
    ).join("; ");
  const networks = host.networks.filter((one) =>
    one.received_bytes_per_second + one.sent_bytes_per_second > 1e5
  )
    .map((one) =>
      `${named(one.name, 30)} ${number(one.received_bytes_per_second / 1e6)} received, ${
        number(one.sent_bytes_per_second / 1e6)
      } sent`
    ).join("; ");
  return [
    `processors: ${
      host.cpu
        ? `${rangeOf(host.cpu, 100)} % of ${host.cpus ?? "?"} in use by all programs`
        : "not measured"
    }${modes ? ` (${modes})` : ""}`,
    `memory: ${
      host.memory_used_bytes
        ? `${rangeOf(host.memory_used_bytes, 1e-9)} of ${
          number(host.memory_total_bytes === null ? null : host.memory_total_bytes / 1e9)
        } GB in use`
        : "not measured"
    }${
      host.swap_used_bytes && host.swap_used_bytes.max > 0
        ? `, swap ${rangeOf(host.swap_used_bytes, 1e-9)} GB`
        : ""
    }`,
    `tasks stood still for want of (share of the time): ${
      stalled || (host.stalled.length > 0 ? "nothing" : "not measured")
    }`,
    ...(disks ? [`disks, MB/s: ${disks}`] : []),
    ...(networks ? [`network, MB/s: ${networks}`] : []),
  ];
}

function processBlock({ processes }: InstanceFacts, at: number): Block {
  const running = processes.filter(({ has_ended }) => !has_ended);
  const ended = processes.length - running.length;
  const folded = folds(running);
  const rows = folded.slice(0, LISTED).map((one, line): Row => ({
    text: one,
    weight: 310 - 20 * at - 4 * line,
  }));
  const more = folded.length - LISTED;
  return {
    lead: [
      row(
        "process",
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
  };
}

/** A row a process; processes of one command that are alike are one row. */
function folds(processes: readonly ProcessFacts[]): string[] {
  const groups = new Map<string, ProcessFacts[]>();
  for (const process of processes) {
    const cpus = (process.user_cpus ?? 0) + (process.system_cpus ?? 0);
    // Alike: the same command, and processor time within a tenth of a processor.
    const key = `${process.command_line}\n${Math.round(cpus * 10)}`;
    groups.set(key, [...groups.get(key) ?? [], process]);
  }
  return Array.from(groups.values(), (group) => {
    const mean = (of: (process: ProcessFacts) => number | null) => {
      const known = group.flatMap((process) => of(process) ?? []);
      return known.length > 0 ? known.reduce((sum, one) => sum + one, 0) / known.length : null;
    };
    const [first] = group;
    return row(
      group.length > 1 ? `${group.length} processes, each` : pidOf(first!),
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
