/** What CUPTI's documentation leaves open, answered by an injection of our own that only listens. */

import { type Finding, told } from "./finding.ts";
import { plain } from "./runs.ts";

/** A line of `questions.c`: an event, a record, or an answer. */
interface Line {
  callback?: number;
  type?: number;
  symbol?: string;
  exec_id?: number;
  graph_id?: number;
  original_id?: number;
  record?: "graph" | "kernel";
  id?: number;
  correlation?: number;
  subscribe?: number;
  hardware_trace?: number;
  refused?: string;
}

/** Plays the known work, once each, with the injection listening. */
export async function answerQuestions(workload: string, library: string): Promise<Finding[]> {
  const work = [workload, "known", "1", "1", "1", "1", "1", "1", "1"];
  const { stderr } = await plain(work, { CUDA_INJECTION64_PATH: library });
  const lines: Line[] = stderr.trim().split("\n").filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  const refused = lines.find((line) => line.refused)?.refused;
  if (refused) return [told("open questions", `not answered: ${refused}`)];
  const asked = await plain(work, { CUDA_INJECTION64_PATH: library, ASK_HARDWARE_TRACE: "1" })
    .then(({ stderr }) => /"hardware_trace":(\d+)/.exec(stderr)?.[1] ?? "no such function")
    .catch((error: Error) => error.message);
  return [
    told("a graph record's id is", idsOf(lines)),
    told(
      "symbols while a stream is captured",
      lines.filter(({ callback, type }) => callback === 13 && type === 0)
        .map(({ symbol }) => symbol || "(no call)").join(", "),
    ),
    told("order of graph callbacks", lines.flatMap(({ callback }) => callback ?? []).join(" ")),
    told(
      "correlation ids of kernels with no API kind enabled",
      lines.filter(({ record }) => record === "kernel").map(({ correlation }) => correlation).join(
        " ",
      ),
    ),
    told("hardware trace: result", asked),
  ];
}

function idsOf(lines: Line[]): string {
  const recorded = lines.filter(({ record }) => record === "graph").map(({ id }) => id);
  const made = lines.filter(({ exec_id }) => exec_id !== undefined);
  const kinds = [["exec_id", "the executable's"], ["graph_id", "the template's"], [
    "original_id",
    "the original's",
  ]] as const;
  const matching = kinds.filter(([kind]) =>
    recorded.length > 0 && recorded.every((id) => made.some((line) => line[kind] === id))
  );
  return `${matching.map(([, name]) => name).join(" and ") || "none of them"}: records ${
    recorded.join(" ")
  }, made ${JSON.stringify(made)}`;
}
