/** The section of instructions: how to conclude soundly, and the next useful queries. */

import { fenced } from "../quoted.ts";
import { describeSpan } from "./queries.ts";
import type { SectionText } from "./section_text.ts";
import type { Subject } from "./subject.ts";

/** The part that does not depend on data: how to read the text, and rules for sound conclusions. */
export const GUIDE: readonly string[] = [
  "Change one thing, measure again in a steady state, compare the same span of work in the same graph mode; leave warm-up out.",
  "Start with finding 1. Where the verdict is that nothing stands out or that it cannot be told, that is the answer: do not look for a cause that the data does not show.",
  "Busy is the run's own kernels, graphs and copies, exactly; \"kernels running\" is the driver's sampled utilization, of all programs and without copies. Busy far above it means copies; a few points between them mean nothing. A collective that hangs reads as 100 %.",
  "Waiting for a busy GPU is healthy; waiting beside an idle one is not. A scheduler of an engine may spin on one processor by design.",
  "Shares are of the seconds covered, not of the span. Kernels of several streams can add up to more than 100 %.",
  "Among collectives the device with the short ones is the slow one: the others wait for it. Collectives beside compute, and a few percent of power capping, are normal.",
  "A latency that was measured under a profiler is not the workload's own: compare like with like.",
];

/** Instructions. */
export function instructionsSection(subject: Subject): SectionText {
  const { available_tags } = subject;
  const queries = describeSpan(subject);
  const tags = [...available_tags].sort(([a], [b]) => a < b ? -1 : 1).map(([name, values]) =>
    `${fenced(name, 60)}: ${values.slice(0, 5).map((value) => fenced(value, 60)).join(", ")}`
  );
  return {
    section: "instructions",
    title: "Optimization instructions",
    blocks: [
      { lead: [], rows: GUIDE.map((text, at) => ({ text: `- ${text}`, weight: 470 - 30 * at })) },
      {
        lead: queries.length > 0 ? ["Next queries:"] : [],
        rows: queries.map((text, at) => ({ text: `- ${text}`, weight: 330 - 20 * at })),
      },
      ...(tags.length > 0
        ? [{
          lead: ["available_tags (newest values first):"],
          rows: tags.map((text, at) => ({ text: `- ${text}`, weight: 320 - at })),
        }]
        : []),
    ],
  };
}
