/** `service-run`: runs the user's command and watches it from the side. */

import denoJson from "../deno.json" with { type: "json" };
import type { Tags } from "@service/core";
import { createCaptureSource } from "./capture.ts";
import { createClock } from "./clock.ts";
import { createHostSource } from "./host.ts";
import { containerId, instanceTags, newInstanceId } from "./instance.ts";
import { type Listener, openListener } from "./listener.ts";
import { type Launch, launch } from "./launchers.ts";
import { dieBy } from "./native.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { commandLine } from "./process_attributes.ts";
import { createProcessSource } from "./processes.ts";
import { createPrometheusSource } from "./prometheus.ts";
import { createSelfSource } from "./self.ts";
import { saveSnapshot, stateDirectory } from "./state.ts";
import { targets } from "./targets.ts";
import { startUpload } from "./upload.ts";
import { startWatcher, type Watcher } from "./watcher.ts";
import { type Ending, StartError, startWorkload, type Workload } from "./workload.ts";

type Environment = Record<string, string>;

/** The workload inherits it, and so does all it starts: by it a process is known to belong to it. */
const INSTANCE_VARIABLE = "SERVICE_INSTANCE_ID";

const LOOPBACK = "localhost,127.0.0.1,::1";

const FORWARDED: Deno.Signal[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];

/** Runs what `args` ask for and leaves with the exit code or by the signal of the workload. */
export async function main(args: string[]): Promise<void> {
  const env = Deno.env.toObject();
  // It would move our own server; the workload still gets it.
  Deno.env.delete("DENO_SERVE_ADDRESS");
  let options: Options;
  let listener: Listener;
  try {
    const request = readOptions(args, env);
    if ("print" in request) {
      console.log(request.print === "help" ? HELP.trimEnd() : `service-run ${denoJson.version}`);
      Deno.exit(0);
    }
    options = request.run;
    listener = openListener({
      host: options.listenHost,
      port: options.listenPort,
      named: options.portNamed,
    });
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
    Deno.exit(2);
  }
  await run(options, listener, env);
}

async function run(options: Options, listener: Listener, env: Environment): Promise<void> {
  const now_ns = createClock();
  const start_ns = now_ns();
  const id = newInstanceId();
  const launched = look(options, env);
  const workload = start(launched.command, id, env);
  // What is measured here is never read through a proxy; the workload has its own environment by now.
  Deno.env.set("NO_PROXY", [env.NO_PROXY ?? env.no_proxy, LOOPBACK].filter(Boolean).join(","));
  for (const fault of ["error", "unhandledrejection"]) {
    globalThis.addEventListener(fault, (event) => {
      event.preventDefault();
      const why = event instanceof ErrorEvent
        ? event.message
        : (event as PromiseRejectionEvent).reason;
      complain(`a fault in the profiler, the workload goes on: ${why}`);
    });
  }
  let ending: Ending | null = null;
  for (const signal of FORWARDED) {
    Deno.addSignalListener(signal, () => {
      if (ending) leave(ending);
      if (!reachesGroup(signal)) workload.kill(signal);
    });
  }
  let watcher: Watcher | undefined;
  try {
    watcher = watch({ options, launched, listener, env, workload, id, start_ns, now_ns });
    if (env.SERVICE_DEBUG === "1") complain(`instance ${id}, signals at ${listener.url()}/signals`);
  } catch (error) {
    complain(`no profile, the workload runs without: ${error}`);
  }
  ending = await workload.ended;
  await finish(watcher, id, env);
  leave(ending);
}

/** The command as it is started: as given, but for what an engine needs to serve its metrics. */
function look({ command, metricsPort, metricsUrl }: Options, env: Environment): Launch {
  try {
    const launched = launch(command, { env, metricsPort });
    for (const change of launched.changes) complain(change);
    const { engine, why } = launched;
    if (engine && why && !metricsUrl) complain(`no engine metrics: ${why}`);
    return launched;
  } catch (error) {
    complain(`the command is run as it is: ${error}`);
    return { command, changes: [], why: "the command could not be looked at" };
  }
}

function start(command: string[], id: string, env: Environment): Workload {
  const { DENO_SERVE_ADDRESS } = env;
  try {
    return startWorkload(command, {
      [INSTANCE_VARIABLE]: id,
      ...(DENO_SERVE_ADDRESS && { DENO_SERVE_ADDRESS }),
    });
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    complain(error.message);
    Deno.exit(error.code);
  }
}

interface Run {
  options: Options;
  launched: Launch;
  listener: Listener;
  env: Environment;
  workload: Workload;
  id: string;
  start_ns: bigint;
  now_ns: () => bigint;
}

function watch({ options, launched, listener, env, workload, id, start_ns, now_ns }: Run): Watcher {
  const { version } = denoJson;
  const { pid } = workload;
  const context = instanceTags({
    id,
    env,
    hostname: Deno.hostname(),
    pid,
    tags: options.tags,
    containerId: containerId(readText("/proc/self/cgroup"), readText("/proc/self/mountinfo")),
  });
  const changed: Tags = launched.changes.length > 0
    ? { "profiler.command_change": launched.changes.join("; ") }
    : {};
  const scraped = targets(options, launched);
  const start_seconds = Number(start_ns / 1_000_000n) / 1_000;
  return startWatcher({
    start_ns,
    now_ns,
    version,
    context,
    attributes: { "process.command_line": commandLine(options.command), ...changed },
    sources: [
      createHostSource({ profilerVersion: version }),
      createProcessSource({ root: pid, marker: `${INSTANCE_VARIABLE}=${id}`, attributes: changed }),
      createCaptureSource(notCaptured(scraped.length === 0 ? launched.why : undefined)),
      ...scraped.map((target) =>
        createPrometheusSource({ ...target, among: scraped.length > 1, start_seconds })
      ),
      createSelfSource(),
    ],
    listener,
    upload: uploadTo(env, id),
    complain,
  });
}

function readText(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

/** What the measured payload lacks in this version. */
function notCaptured(engine_metrics: string | undefined): Record<string, string> {
  return {
    console_errors: "the native supervisor is not part of this version",
    gpu_kernels: "the injected library is not part of this version",
    ...(engine_metrics !== undefined && { engine_metrics }),
  };
}

function uploadTo(env: Environment, instance_id: string) {
  const { SERVICE_API_KEY: key, SERVICE_API_BASE: base } = env;
  if (!key) return undefined;
  return (complain: (why: string) => void) => {
    if (base === undefined || !/^https?:$/.test(URL.parse(base)?.protocol ?? "")) {
      const got = JSON.stringify(base ?? "");
      throw new Error(`SERVICE_API_BASE must be the http(s) URL of the service: got ${got}`);
    }
    const spools = `${stateDirectory(env)}/spool`;
    return startUpload({ base, key, spools, instance_id, complain });
  };
}

async function finish(watcher: Watcher | undefined, instance_id: string, env: Environment) {
  try {
    const snapshot = await watcher?.finish();
    if (snapshot === undefined) return;
    const file = env.SERVICE_SNAPSHOT_FILE || undefined;
    await saveSnapshot(snapshot, { directory: stateDirectory(env), instance_id, file });
  } catch (error) {
    complain(`the last snapshot is lost: ${error}`);
  }
}

/** Ctrl-C and Ctrl-\ reach the whole foreground group of a terminal: the workload has them already. */
function reachesGroup(signal: Deno.Signal): boolean {
  const terminal = Deno.stdin.isTerminal() || Deno.stdout.isTerminal() || Deno.stderr.isTerminal();
  return terminal && (signal === "SIGINT" || signal === "SIGQUIT");
}

/** Ends as the workload did. */
function leave({ code, signal }: Ending): never {
  if (signal) dieBy(signal);
  Deno.exit(code);
}

function complain(why: string): void {
  console.error(`service-run: ${why}`);
}
