/** What entries of device metrics have in common. */

import type { CatalogueEntry } from "./entry.ts";

/** Keys of the tags that identify a device. */
export const DEVICE_TAGS: readonly string[] = ["device.uuid", "device.bus_id"];

/** A gauge of a device. */
export const gauge = { type: "gauge", tags: DEVICE_TAGS } as const;

/** A counter of a device, from the start of the run on. */
export const counter = { type: "counter", tags: DEVICE_TAGS } as const;

/** The gauge, and the distribution of its values over the seconds. */
export function withDistribution(entry: CatalogueEntry): CatalogueEntry[] {
  return [entry, {
    ...entry,
    name: `${entry.name}_distribution`,
    type: "histogram",
    meaning: `Distribution of ${entry.name}: one value for each second in which it was measured.`,
    read: "The gauge is only the newest second; p50 and p95 here are of all seconds asked for. A " +
      "median near the maximum is steady work; a mean far from the median is work in turns. Bins " +
      "are at most 12.5 % wide; min and max are exact.",
    act: `As ${entry.name}.`,
  }];
}
