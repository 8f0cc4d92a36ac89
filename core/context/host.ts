/** The section on hosts: processors, memory, storage, network, and the busiest processes. */

import { named } from "../quoted.ts";
import type { HostFacts, InstanceFacts } from "../facts/mod.ts";
import { processBlocks } from "./process_table.ts";
import type { Block, Row, SectionText } from "./section_text.ts";
import { labelsOf, type Subject } from "./subject.ts";
import { number, percent, rangeOf } from "./words.ts";

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
    ...processBlocks(facts, 310 - 20 * at),
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
