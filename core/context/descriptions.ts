/** The section of descriptions: a line for each metric that the text names, from the catalogue. */

import { describe } from "../catalogue/mod.ts";
import type { SectionText } from "./section_text.ts";
import type { Subject } from "./subject.ts";

/** Descriptions of the metrics that findings stand on, in the order of the findings. */
export function descriptionsSection({ findings }: Subject): SectionText {
  const names = new Set([
    ...findings.findings.flatMap(({ evidence }) => evidence.map(({ metric }) => metric)),
    ...findings.sound.flatMap(({ evidence }) => evidence.map(({ metric }) => metric)),
    "gpu_busy_nanoseconds",
    "gpu_utilization_percent",
    "cuda_sync_nanoseconds",
  ]);
  const rows = [...names].flatMap((name, at) => {
    const entry = describe(name);
    return entry ? [{ text: `- ${name}: ${entry.meaning} ${entry.read}`, weight: 130 - at }] : [];
  });
  return { section: "descriptions", title: "Signal descriptions", blocks: [{ lead: [], rows }] };
}
