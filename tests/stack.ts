/** The whole product in separate processes: the hosted API, and runs of `service-run`. */

import { decode, type Shape, type Signals, signals } from "@service/core";
import { type Ended, inTime, run, start, type Written } from "./command.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const PLAIN = { NO_COLOR: "1" };

/** Hosted API on a SQLite file, in a process that a test can kill and restart. */
export interface Hosted {
  readonly url: string;
  readonly key: string;
  /** Body of the answer to `GET path`, checked against a shape. */
  get<T>(path: string, shape: Shape<T>): Promise<T>;
  kill(): Promise<void>;
  /** Starts the API again, on the same file and port. */
  restart(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the hosted API on a file in `directory`, with one project and its key. */
export async function startHosted(directory: string): Promise<Hosted> {
  const env = { SERVICE_DATABASE_URL: `file:${directory}/hosted.db` };
  let server = await startServer({ ...env, PORT: "0" });
  const { url } = server;
  const key = await createKey(directory, "demo");
  return {
    url,
    key,
    async get(path, shape) {
      const response = await fetch(`${url}${path}`, { headers: { "x-api-key": key } });
      return await checked(response, shape);
    },
    async kill() {
      server.process.kill("SIGKILL");
      await server.process.status;
    },
    async restart() {
      server = await startServer({ ...env, PORT: new URL(url).port });
    },
    async [Symbol.asyncDispose]() {
      server.process.kill("SIGTERM");
      await server.process.status;
    },
  };
}

/** Body of a successful answer. */
export async function checked<T>(response: Response, shape: Shape<T>): Promise<T> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}: ${text}`);
  return shape.check(decode(text));
}

/** New key of `project`, in the database of {@linkcode startHosted} in `directory`. */
export async function createKey(directory: string, project: string): Promise<string> {
  return await admin(directory, "create-key", "--project", project);
}

/** What `edge/admin.ts` prints, on the database of {@linkcode startHosted} in `directory`. */
export async function admin(directory: string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(
    deno("edge/admin.ts", ...args),
    { ...PLAIN, SERVICE_DATABASE_URL: `file:${directory}/hosted.db` },
  );
  if (!status.success) throw new Error(`Cannot ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** A command under `service-run`. */
export interface Run extends AsyncDisposable {
  /** Base URL of the local endpoint, once it answers. */
  readonly url: Promise<string>;
  readonly process: Deno.ChildProcess;
  readonly stdout: Written;
  /** Status and output after the end; an error after the deadline of a command. */
  readonly ended: Promise<Ended>;
}

/** Options of {@linkcode startRun}. */
export interface RunOptions {
  /** Directory of its state. */
  directory: string;
  env?: Record<string, string>;
  /** Flags before the command; `--listen-port 0` by default. */
  flags?: string[];
  /** Where a shell sends its output: `> log 2>&1`, `| cat`. */
  redirection?: string;
  /** Time after which it is killed; a minute by default. */
  deadline_ms?: number;
}

/** Starts `command` under `service-run`. */
export function startRun(command: string[], options: RunOptions): Run {
  const { directory, env = {}, flags = ["--listen-port", "0"], redirection, deadline_ms } = options;
  const words = deno("mod.ts", ...flags, "--", ...command);
  const shell = redirection === undefined ? [] : ["bash", "-c", `"$@" ${redirection}`, "bash"];
  const started = start([...shell, ...words], {
    ...PLAIN,
    XDG_STATE_HOME: directory,
    SERVICE_DEBUG: "1",
    ...env,
  });
  const { process, stdout } = started;
  const url = started.stderr.match(/signals at (http:\S+)\/signals/);
  const ended = inTime(started, started.ended, deadline_ms);
  // A test need not await both; a run that ends early has no URL.
  for (const promise of [url, ended]) promise.catch(() => {});
  return {
    process,
    url,
    stdout,
    ended,
    async [Symbol.asyncDispose]() {
      try {
        process.kill("SIGTERM");
      } catch {
        // It has ended.
      }
      await ended;
    },
  };
}

/** Pid of a run's watcher: a child process, or the run itself without the native part. */
export async function watcherOf({ process: { pid } }: Run): Promise<number> {
  const children = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`);
  for (const child of children.trim().split(" ")) {
    const words = await Deno.readTextFile(`/proc/${child}/cmdline`).catch(() => "");
    if (words.includes("local/watcher.ts")) return Number(child);
  }
  return pid;
}

/** The local payload of a run. */
export async function readLocal(run: Run, query = ""): Promise<Signals> {
  return await checked(await fetch(`${await run.url}/signals${query}`), signals);
}

/** Environment of a run that uploads to `hosted`. */
export function uploadTo({ url, key }: Pick<Hosted, "url" | "key">): Record<string, string> {
  return { SERVICE_API_BASE: url, SERVICE_API_KEY: key };
}

/** First truthy result of `probe`, which is called ten times a second for at most a minute. */
export async function until<T>(
  probe: () => T | false | undefined | Promise<T | false | undefined>,
): Promise<T> {
  for (let i = 0; i < 600; i++) {
    const found = await probe();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Cannot wait any longer: ${probe}`);
}

async function startServer(env: Record<string, string>) {
  const server = start(deno("edge/main.ts"), { ...PLAIN, ...env });
  const { process } = server;
  return { process, url: await inTime(server, server.stderr.match(/listening on (http:\S+)/)) };
}

/** Command line of a program of this repository. */
export function deno(file: string, ...args: string[]): string[] {
  return [Deno.execPath(), "run", "-A", "--quiet", `${ROOT}${file}`, ...args];
}
