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
  /** The beginning of URLs of further queries, such as `http://127.0.0.1:18259`. */
  base_url: string;
  /** Whether that is the profiled machine itself. */
  is_local: boolean;
}

/** A device of an instance. */
export interface PlacedDevice {
  /** Its instance. */
  facts: InstanceFacts;
  /** The device. */
  device: DeviceFacts;
  /** A name that no other has in this text: `3`, or `host-b/3` with several instances. */
  name: string;
}

/** The devices of all instances on which the run worked; all where it worked on none. */
export function devicesOf({ instances }: Subject): PlacedDevice[] {
  const labelOf = labelsOf(instances);
  const placed = instances.flatMap((facts) =>
    facts.devices.map((device, at) => {
      const index = String(device.index ?? at);
      const name = instances.length > 1 ? `${labelOf(facts)}/${index}` : index;
      return { facts, device, name };
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

/** Names in a row at most. */
const MOST_NAMES = 16;

/** Names in a row: `0-4, 6, 7` for whole numbers, else joined by commas; of many the first. */
export function namesOf(devices: readonly PlacedDevice[]): string {
  const numbers = devices.map(({ name }) => Number(name));
  if (numbers.some(Number.isNaN)) {
    const names = devices.slice(0, MOST_NAMES).map(({ name }) => name).join(", ");
    const more = devices.length - MOST_NAMES;
    return more > 0 ? `${names} and ${more} more` : names;
  }
  const parts: string[] = [];
  for (let at = 0; at < numbers.length; at++) {
    let end = at;
    while (numbers[end + 1] === numbers[end]! + 1) end++;
    parts.push(
      end > at + 1 ? `${numbers[at]}-${numbers[end]}` : numbers.slice(at, end + 1).join(", "),
    );
    at = end;
  }
  return parts.join(", ");
}
