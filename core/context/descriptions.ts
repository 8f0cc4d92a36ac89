/** The section of descriptions: a line for each metric that the text names, from the catalogue. */

import { describe } from "../catalogue/mod.ts";
import type { SectionText } from "./section_text.ts";
import type { Subject } from "./subject.ts";

/** Metrics that the tables of devices stand on. */
const OF_DEVICES = ["gpu_busy_nanoseconds", "gpu_utilization_percent", "cuda_sync_nanoseconds"];

/** Descriptions of the metrics that findings stand on, in the order of the findings. */
export function descriptionsSection({ instances, findings }: Subject): SectionText {
  const names = new Set([
    ...findings.findings.flatMap(({ evidence }) => evidence.map(({ metric }) => metric)),
    ...findings.sound.flatMap(({ evidence }) => evidence.map(({ metric }) => metric)),
    ...(instances.some(({ devices }) => devices.length > 0) ? OF_DEVICES : []),
  ]);
  const rows = [...names].flatMap((name, at) => {
    const entry = describe(name);
    return entry ? [{ text: `- ${name}: ${entry.meaning} ${entry.read}`, weight: 130 - at }] : [];
  });
  return { section: "descriptions", title: "Signal descriptions", blocks: [{ lead: [], rows }] };
}
