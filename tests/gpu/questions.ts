/** Open questions of CUPTI's documentation, answered by an injection library that only records events. */

import { type Finding, observation } from "./finding.ts";
import { plain } from "./runs.ts";

/** Line of output of `questions.c`: an event, a record, or a result. */
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

/** Runs one of each kind of work with the injection library, and reads its output. */
export async function answerQuestions(workload: string, library: string): Promise<Finding[]> {
  const work = [workload, "known", "1", "1", "1", "1", "1", "1", "1"];
  const { stderr } = await plain(work, { CUDA_INJECTION64_PATH: library });
  const lines: Line[] = stderr.trim().split("\n").filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  const refused = lines.find((line) => line.refused)?.refused;
  if (refused) return [observation("open questions", `not answered: ${refused}`)];
  const hardwareTrace = await plain(work, {
    CUDA_INJECTION64_PATH: library,
    ASK_HARDWARE_TRACE: "1",
  })
    .then(({ stderr }) => /"hardware_trace":(\d+)/.exec(stderr)?.[1] ?? "no such function")
    .catch((error: Error) => error.message);
  return [
    observation("a graph record's id is", idsOf(lines)),
    observation(
      "symbols while a stream is captured",
      lines.filter(({ callback, type }) => callback === 13 && type === 0)
        .map(({ symbol }) => symbol || "(no call)").join(", "),
    ),
    observation(
      "order of graph callbacks",
      lines.flatMap(({ callback }) => callback ?? []).join(" "),
    ),
    observation(
      "correlation ids of kernels with no API kind enabled",
      lines.filter(({ record }) => record === "kernel").map(({ correlation }) => correlation).join(
        " ",
      ),
    ),
    observation("hardware trace: result", hardwareTrace),
  ];
}

function idsOf(lines: Line[]): string {
  const recorded = lines.filter(({ record }) => record === "graph").map(({ id }) => id);
  const instantiated = lines.filter(({ exec_id }) => exec_id !== undefined);
  const kinds = [["exec_id", "the executable's"], ["graph_id", "the template's"], [
    "original_id",
    "the original's",
  ]] as const;
  const matching = kinds.filter(([kind]) =>
    recorded.length > 0 && recorded.every((id) => instantiated.some((line) => line[kind] === id))
  );
  return `${matching.map(([, name]) => name).join(" and ") || "none of them"}: records ${
    recorded.join(" ")
  }, instantiated ${JSON.stringify(instantiated)}`;
}
