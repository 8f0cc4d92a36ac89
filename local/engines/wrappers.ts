/**
 * Wrappers: programs that only start another program, and the program that they start. A new wrapper
 * needs a fixture in `detect_test.ts`; for all others the user names the port of the metrics.
 */

import { shellWords } from "./shell_words.ts";

/** The program that the last wrapper starts. */
export interface Unwrapped {
  /** The program's name without its folder, or `-m` and the module's name for a Python module. */
  program: string;
  args: string[];
  /** The environment, with the variables that wrappers set. */
  env: Record<string, string>;
  /** Whether its words are the last words of the command, and not in a script. */
  isVerbatim: boolean;
}

/** Options of a wrapper that have their value in the next word. */
const VALUED: Record<string, RegExp> = {
  env: /^(?:-u|-C|--unset|--chdir)$/,
  nice: /^(?:-n|--adjustment)$/,
  nohup: /^$/,
  setsid: /^$/,
  timeout: /^(?:-s|-k|--signal|--kill-after)$/,
  numactl:
    /^(?:-[NmCipPw]|--(?:cpunodebind|membind|physcpubind|cpubind|interleave|preferred|preferred-many|weighted-interleave))$/,
  taskset: /^$/,
  "trtllm-llmapi-launch": /^$/,
  stdbuf: /^(?:-[ioe]|--(?:input|output|error))$/,
};

/** Wrappers with one word between their options and the command. */
const OPERAND = /^(?:timeout|taskset)$/;

const UV_VALUED =
  /^(?:-p|-w|-C|-i|-f|-P|--(?:python|with|with-editable|with-requirements|extra|group|only-group|no-group|no-extra|env-file|directory|project|package|index|default-index|index-url|extra-index-url|find-links|config-file|cache-dir|from|python-platform|refresh-package|upgrade-package|reinstall-package|resolution|prerelease|link-mode|color|exclude-newer))$/;

const PYTHON = /^(?:python|pypy)[\d.]*$/;
const SHELL = /^(?:ba|da|z|k)?sh$/;

/** Options of `torchrun` without a value; all others have one. */
const TORCHRUN_FLAGS = /^--?(?:standalone|use[-_]agent[-_]store|no[-_]python|run[-_]path)$/;

/** The names of all wrappers; Python and the shells under one name each. */
export const WRAPPERS: readonly string[] = [
  ...Object.keys(VALUED),
  ...["uv", "uvx", "torchrun", "python", "bash"],
];

/** Limit of nested wrappers. */
const MAX_DEPTH = 16;

/** The program that `command` runs; `undefined` if a script or a wrapper is not understood. */
export function unwrap(
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Unwrapped | undefined {
  let words = [...command];
  const env = { ...environment };
  let isVerbatim = true;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const [path = "", ...rest] = words;
    const name = path.split("/").at(-1)!;
    const script = SHELL.test(name) ? scriptOf(rest) : undefined;
    if (script !== undefined) {
      const inside = simpleCommand(script, env);
      if (!inside) return undefined;
      isVerbatim = false;
      words = inside;
      continue;
    }
    const next = wrappedBy(name, rest, env);
    if (next === "unclear") return undefined;
    if (!next) return { program: name, args: rest, env, isVerbatim };
    if ("program" in next) return { ...next, env, isVerbatim };
    words = next.words;
  }
  return undefined;
}

/** The command after a wrapper, or the program itself if its name is not a word of the command. */
type Wrapped = { words: string[] } | { program: string; args: string[] };

/** The command that the program `name` starts; `undefined` if it is no wrapper, or has no command. */
function wrappedBy(
  name: string,
  rest: string[],
  env: Record<string, string>,
): Wrapped | "unclear" | undefined {
  if (PYTHON.test(name)) return pythonProgram(rest);
  if (name === "uv" && rest[0] === "run") return uvProgram(rest.slice(1));
  if (name === "uv" && rest[0] === "tool" && rest[1] === "run") return uvProgram(rest.slice(2));
  if (name === "uvx") return uvProgram(rest);
  if (name === "torchrun") return torchrunProgram(rest);
  const valued = Object.hasOwn(VALUED, name) ? VALUED[name] : undefined;
  if (!valued) return undefined;
  let at = skipOptions(rest, valued);
  if (OPERAND.test(name)) at++;
  if (name === "env") {
    for (let set; (set = /^(\w+)=([^]*)$/.exec(rest[at] ?? "")); at++) env[set[1]!] = set[2]!;
    // Its option -S has the words of the command in one.
    if (rest.slice(0, at).some((word) => /^(?:-\w*S|--split-string)/.test(word))) return "unclear";
  }
  return at < rest.length ? { words: rest.slice(at) } : undefined;
}

/** Index of the first word after the options, or after `--`. */
function skipOptions(words: readonly string[], valued: RegExp): number {
  let at = 0;
  while (words[at]?.startsWith("-")) {
    const word = words[at++]!;
    if (word === "--") break;
    if (valued.test(word)) at++;
  }
  return at;
}

function pythonProgram(rest: string[]): Wrapped | undefined {
  let at = 0;
  while (rest[at]?.startsWith("-")) {
    const word = rest[at++]!;
    const clustered = /^-[bBdEiIOPqRsSuvx]*([mc])(.*)$/.exec(word);
    if (clustered?.[1] === "c") return undefined;
    if (clustered) {
      const module = clustered[2] || rest[at++];
      return module ? moduleProgram(module, rest.slice(at)) : undefined;
    }
    if (/^-[XW]$/.test(word)) at++;
  }
  const [script, ...args] = rest.slice(at);
  return script === undefined ? undefined : { program: script.split("/").at(-1)!, args };
}

function moduleProgram(module: string, args: string[]): Wrapped | undefined {
  if (/^torch\.distributed\.(?:run|launch)$/.test(module)) return torchrunProgram(args);
  return { program: `-m ${module}`, args };
}

function uvProgram(rest: string[]): Wrapped | undefined {
  const at = skipOptions(rest, UV_VALUED);
  const module = rest.findIndex((word, i) => i < at && /^(?:-m|--module)$/.test(word));
  if (module >= 0) return pythonProgram(["-m", ...rest.slice(module + 1)]);
  return at < rest.length ? { words: rest.slice(at) } : undefined;
}

function torchrunProgram(rest: string[]): Wrapped | undefined {
  let at = 0;
  let bare = false;
  while (rest[at]?.startsWith("-")) {
    const word = rest[at++]!;
    if (word === "-m" || word === "--module") {
      return rest[at] ? { program: `-m ${rest[at]}`, args: rest.slice(at + 1) } : undefined;
    }
    if (/^--no[-_]python$/.test(word)) bare = true;
    if (!TORCHRUN_FLAGS.test(word) && !word.includes("=")) at++;
  }
  if (at >= rest.length) return undefined;
  return bare ? { words: rest.slice(at) } : pythonProgram(rest.slice(at));
}

/** The script that a shell gets with `-c`. */
function scriptOf(rest: readonly string[]): string | undefined {
  let at = 0;
  while (rest[at]?.startsWith("-")) {
    const word = rest[at++]!;
    if (/^-[a-z]*c$/.test(word)) return rest[at];
    if (/^-[a-z]*[oO]$/.test(word)) at++;
  }
  return undefined;
}

function simpleCommand(script: string, env: Record<string, string>): string[] | null {
  const words = shellWords(script, env);
  if (!words) return null;
  let at = 0;
  for (let set; (set = /^(\w+)=([^]*)$/.exec(words[at] ?? "")); at++) env[set[1]!] = set[2]!;
  if (words[at] === "exec") at++;
  return at < words.length ? words.slice(at) : null;
}
