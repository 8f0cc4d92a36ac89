/** The guide: how to read the text and how to ask for it, without any data. */

import { GUIDE } from "./instructions.ts";
import { DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS } from "./parameters.ts";
import { SECTIONS } from "./sections.ts";

/** The guide as a text. */
export function guideText(): string {
  return [
    "## How to read the context",
    "",
    ...GUIDE.map((line) => `- ${line}`),
    "",
    "## How to ask for it",
    "",
    "GET /api/v1/signal_context/ with start_time_ns and end_time_ns (epoch nanoseconds), and, if wanted:",
    "- tags=k1:v1;k2:v2: instances that have all of them; instance.id names one run.",
    `- max_tokens: ${MIN_TOKENS} to ${MAX_TOKENS}, ${DEFAULT_TOKENS} if absent. What does not fit is left out, the least important first.`,
    `- sections: some of ${SECTIONS.join(",")}.`,
    "Accept: text/plain gets the text alone. /api/v1/findings gives the findings as JSON, /api/v1/signals all numbers of one run.",
    "",
  ].join("\n");
}
