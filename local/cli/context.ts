/** `service-run context [run]`: prints what limits a run of this machine, as a text for a language model. */

import { contextText, runSubject, sectionNames, tokenBudget } from "@service/core/context";
import { stepLength } from "@service/core/facts/step_length";
import { parseWindowName, spanOfWindow } from "@service/core/window_name";
import { stateDirectory } from "../base/directories.ts";
import { errorText, log } from "../base/log.ts";
import { listRuns } from "../runs/directory.ts";
import { type ListedRun, RunsReader } from "../runs/reader.ts";

const USAGE =
  `Usage: service-run context [run] [--window <window>] [--max-tokens <n>] [--sections <names>]

Prints what limits a run, with evidence, for a language model. The run goes on or has ended; it
is named by its id, the beginning of it, or tag=value. Without a name it is the newest.

  --window <window>     all, steady (after start-up; the default), last 60s, or FROM..TO
  --max-tokens <n>      most tokens of the text (8000)
  --sections <names>    some of the sections, separated by commas

A workload of the name context is run by: service-run -- context`;

/** Exit codes: of a mistake on the command line, and where there is nothing to read. */
const EXIT = { done: 0, usage: 2, nothing: 3 } as const;

/** What the command line asks for. */
interface Asked {
  run: string | undefined;
  window: string;
  max_tokens: number | undefined;
  sections: ReturnType<typeof sectionNames.parse> | undefined;
}

/** Does what `args` ask for; the result is the exit code. */
export async function printContext(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  if (args.includes("--help")) {
    console.log(USAGE);
    return EXIT.done;
  }
  try {
    const asked = readArguments(args);
    const name = parseWindowName(asked.window);
    const directory = `${stateDirectory(env)}/runs`;
    const reader = new RunsReader(directory);
    const runs = await reader.runs();
    const found = runs.length > 0
      ? findRun(runs, asked.run)
      : whyNone(directory, await listRuns(directory));
    if (typeof found === "string") {
      log(found);
      return EXIT.nothing;
    }
    const { instance, span, has_ended } = found;
    const window = spanOfWindow(name, span);
    const step_ns = stepLength(window);
    const steps = await Array.fromAsync(
      reader.steps(instance.instance_id, { ...window, step_ns }, {}),
    );
    const subject = runSubject({
      instance,
      asked: window,
      steps,
      is_running: !has_ended,
      keepsStartUp: name.kind === "all",
      window: asked.window,
      base_url: null,
    });
    console.log(contextText(subject, asked).trimEnd());
    return EXIT.done;
  } catch (error) {
    if (
      error instanceof Deno.errors.NotADirectory || error instanceof Deno.errors.PermissionDenied
    ) {
      log(`cannot read the runs of this machine: ${errorText(error)}`);
      return EXIT.nothing;
    }
    if (!(error instanceof RangeError)) throw error;
    log(`${errorText(error)}; service-run context --help has the usage`);
    return EXIT.usage;
  }
}

/**
 * What the arguments ask for.
 *
 * @throws {RangeError} If one is not known or not valid.
 */
function readArguments(args: readonly string[]): Asked {
  const asked: Asked = {
    run: undefined,
    window: "steady",
    max_tokens: undefined,
    sections: undefined,
  };
  for (let at = 0; at < args.length; at++) {
    const [name = "", inline] = args[at]!.split(/=(.*)/s);
    const value = () => {
      const text = inline ?? args[++at];
      if (text === undefined) throw new RangeError(`${name} needs a value`);
      return text;
    };
    const parsed = <T>(parse: (text: string) => T) => {
      try {
        return parse(value());
      } catch (error) {
        throw error instanceof RangeError ? new RangeError(`${name} ${error.message}`) : error;
      }
    };
    if (name === "--window") {
      asked.window = parsed((text) => (parseWindowName(text), text));
    } else if (name === "--max-tokens") asked.max_tokens = parsed(tokenBudget.parse);
    else if (name === "--sections") asked.sections = parsed(sectionNames.parse);
    else if (name.startsWith("-")) throw new RangeError(`unknown flag ${name}`);
    else if (asked.run !== undefined) throw new RangeError("one run at a time");
    else asked.run = args[at]!;
  }
  return asked;
}

/** Why a directory has no runs, and has these files. */
function whyNone(directory: string, files: readonly string[]): string {
  return files.length > 0
    ? `none of the run files in ${directory} can be read: they are damaged, or of another version`
    : "there are no runs on this machine: start one with service-run -- <command>";
}

/** The run that is meant, of at least one; a text that says why there is none. */
function findRun(runs: readonly ListedRun[], name: string | undefined): ListedRun | string {
  if (name === undefined) return runs[0]!;
  const [tag = "", value] = name.split(/=(.*)/s);
  const found = runs.filter(({ instance }) =>
    value === undefined ? instance.instance_id.startsWith(name) : instance.tags[tag] === value
  );
  // Of runs with one tag the newest is meant; the beginning of an id must be of one.
  if (found.length === 1 || (found.length > 1 && value !== undefined)) return found[0]!;
  const ids = runs.slice(0, 5).map(({ instance }) => instance.instance_id).join(", ");
  return found.length > 1
    ? `${JSON.stringify(name)} is the beginning of ${found.length} runs: give more of the id`
    : `no run is named ${JSON.stringify(name)}; the newest are ${ids}`;
}
