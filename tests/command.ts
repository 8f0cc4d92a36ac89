/** Commands that tests start: each has a temporary home, and is killed after a deadline. */

/** Deadline of a command: several times what the slowest test needs. */
const DEADLINE_MS = 60_000;

/** Variables of the user that name files in the home, or configure the product. */
const OF_THE_USER = /^(XDG_|SERVICE_|HISTFILE$|PYTHON_HISTORY$)/;

/** Home directory of the commands that a test file starts, removed with its last test. */
export const HOME: string = Deno.makeTempDirSync({ prefix: "service-test-home-" });
addEventListener("unload", () => Deno.removeSync(HOME, { recursive: true }));

/** Options of {@linkcode command}: those of Deno without the words. */
export type CommandOptions = Omit<Deno.CommandOptions, "args" | "clearEnv">;

/** Command with {@linkcode HOME} as its home: shells and runs write nothing to the user's home. */
export function command(
  [program, ...args]: readonly string[],
  options: CommandOptions = {},
): Deno.Command {
  const env = { ...environment(), ...options.env };
  return new Deno.Command(program!, { ...options, args, env, clearEnv: true });
}

/**
 * The user's environment with {@linkcode HOME}; Deno and Python still find installed packages. As in CI,
 * a run leaves no watcher behind.
 */
function environment(): Record<string, string> {
  const all = Deno.env.toObject();
  const { XDG_CACHE_HOME = `${all.HOME}/.cache` } = all;
  const kept = Object.entries(all).filter(([name]) => !OF_THE_USER.test(name));
  return {
    DENO_DIR: `${XDG_CACHE_HOME}/deno`,
    PYTHONUSERBASE: `${all.HOME}/.local`,
    ...Object.fromEntries(kept),
    CI: "1",
    HOME,
  };
}

/** Status and output of a command that has ended. */
export interface Ended {
  status: Deno.CommandStatus;
  stdout: string;
  stderr: string;
}

/** A running command. */
export interface Started {
  readonly words: string[];
  readonly process: Deno.ChildProcess;
  readonly stdout: Written;
  readonly stderr: Written;
  readonly ended: Promise<Ended>;
}

/** Output of a command on one stream. */
export interface Written {
  /** Output so far. */
  text(): string;
  /** The whole output, when the stream has ended. */
  readonly all: Promise<string>;
  /** The first group of `pattern`, as soon as the output matches. */
  match(pattern: RegExp): Promise<string>;
}

/** Starts a command without standard input. */
export function start(words: string[], env: Record<string, string> = {}): Started {
  const process = command(words, {
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stdout = collect(process.stdout);
  const stderr = collect(process.stderr);
  const ended = process.status.then(async (status) => ({
    status,
    stdout: await stdout.all,
    stderr: await stderr.all,
  }));
  return { words, process, stdout, stderr, ended };
}

/** Runs a command to its end. */
export async function run(words: string[], env: Record<string, string> = {}): Promise<Ended> {
  const started = start(words, env);
  return await inTime(started, started.ended);
}

/**
 * Result of `work`, with a deadline.
 *
 * @throws {Error} After the deadline: the command and its descendants are killed.
 */
export async function inTime<T>(
  started: Started,
  work: Promise<T>,
  deadline_ms: number = DEADLINE_MS,
): Promise<T> {
  const { words, process, stdout, stderr } = started;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    killTree(process.pid);
    const written = `stdout: ${stdout.text()}\nstderr: ${stderr.text()}`;
    const what = `Cannot wait longer than ${deadline_ms / 1_000} s for ${words.join(" ")}`;
    late.reject(new Error(`${what}\n${written}`));
  }, deadline_ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function killTree(pid: number): void {
  for (const child of childrenOf(pid)) killTree(child);
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function childrenOf(pid: number): number[] {
  try {
    const children = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`);
    return children.trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function collect(stream: ReadableStream<Uint8Array>): Written {
  let text = "";
  const waiting: { pattern: RegExp; resolve: (found: string) => void }[] = [];
  const search = () => {
    for (const { pattern, resolve } of waiting) {
      const found = pattern.exec(text)?.[1];
      if (found) resolve(found);
    }
  };
  const all = (async () => {
    for await (const part of stream.pipeThrough(new TextDecoderStream())) {
      text += part;
      search();
    }
    return text;
  })();
  return {
    text: () => text,
    all,
    async match(pattern) {
      const found = new Promise<string>((resolve) => waiting.push({ pattern, resolve }));
      search();
      return await Promise.race([
        found,
        all.then((text) => {
          throw new Error(`Cannot find ${pattern} in the output: ${text}`);
        }),
      ]);
    },
  };
}
