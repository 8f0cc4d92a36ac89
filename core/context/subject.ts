/** Subjects of the text: instances with their facts, and devices with a name that is theirs alone. */

import { named } from "../quoted.ts";
import type { Findings } from "../findings/mod.ts";
import type { DeviceFacts, InstanceFacts } from "../facts/mod.ts";
import type { Interval } from "../gaps.ts";
import type { Tags } from "../tags.ts";

/** What a text is about. */
export interface Subject {
  /** Facts of each instance. */
  instances: readonly InstanceFacts[];
  /** What was found of them. */
  findings: Findings;
  /** The span that was asked for. */
  asked: Interval;
  /** How the span was asked for, such as `steady`; absent for plain instants. */
  window?: string;
  /** Instances that matched; more than there are facts of, where only those that ran longest were read. */
  matched: number;
  /** Tags that were asked for. */
  tags: Tags;
  /** Tags of instances in the span, by name, with their newest values first. */
  available_tags: ReadonlyMap<string, readonly string[]>;
  /** The beginning of URLs of further queries, such as `http://127.0.0.1:18259`; `null`: none answers, ask by commands. */
  base_url: string | null;
  /** Whether that is the profiled machine itself. */
  is_local: boolean;
}

/** A device of an instance. */
export interface PlacedDevice {
  /** Its instance. */
  facts: InstanceFacts;
  /** The device. */
  device: DeviceFacts;
  /** Its index among the devices of the instance. */
  index: number;
  /** The instance, where there are several; else the empty text. */
  label: string;
}

/** The devices of all instances on which the run worked; all where it worked on none. */
export function devicesOf({ instances }: Subject): PlacedDevice[] {
  const labelOf = labelsOf(instances);
  const placed = instances.flatMap((facts) =>
    facts.devices.map((device, at) => {
      const label = instances.length > 1 ? labelOf(facts) : "";
      return { facts, device, index: device.index ?? at, label };
    })
  );
  const worked = placed.filter(({ device }) => device.activity !== null);
  return worked.length > 0 ? worked : placed;
}

/** Short names of instances: their hosts, or ids where hosts are the same or not one word. */
export function labelsOf(all: readonly InstanceFacts[]): (facts: InstanceFacts) => string {
  const hosts = Map.groupBy(all, ({ instance }) => instance.tags["host.name"]);
  return ({ instance: { instance_id, tags: { "host.name": host } } }) =>
    host !== undefined && host === named(host, 60) && hosts.get(host)?.length === 1
      ? host
      : instance_id;
}

/** Instances in a row of names at most. */
const MOST_NAMES = 16;

/** A name that no other device has in the text: `3`, or `3 on host-b` with several instances. */
export function nameOf({ index, label }: PlacedDevice): string {
  return label === "" ? String(index) : `${index} on ${label}`;
}

/** Names in a row: `0-4, 6, 7`, and of several instances `0-7 on host-a, 0-7 on host-b`; of many the first. */
export function namesOf(devices: readonly PlacedDevice[]): string {
  const groups = [...Map.groupBy(devices, ({ label }) => label)];
  const names = groups.slice(0, MOST_NAMES)
    .map(([label, group]) => `${rangesOf(group)}${label && ` on ${label}`}`).join(", ");
  const more = groups.length - MOST_NAMES;
  return more > 0 ? `${names} and those of ${more} more` : names;
}

function rangesOf(devices: readonly PlacedDevice[]): string {
  const parts: string[] = [];
  for (let at = 0; at < devices.length; at++) {
    let end = at;
    while (devices[end + 1]?.index === devices[end]!.index + 1) end++;
    if (end > at + 1) parts.push(`${devices[at]!.index}-${devices[end]!.index}`);
    else parts.push(...devices.slice(at, end + 1).map(({ index }) => String(index)));
    at = end;
  }
  return parts.join(", ");
}
