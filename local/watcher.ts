/**
 * Entry of the watcher's process. The supervisor starts it beside the workload, sends the workload's
 * pid, the signals that may end it and its end on stdin, and passes the console as descriptor 3, or regular
 * files as 4 and 5. It may be killed at any moment. If the workload has ended before the first read, all are read at once, and
 * nothing is served or polled.
 */

import { createClock } from "./base/clock.ts";
import { guardProcess } from "./base/guard.ts";
import { errorText, log } from "./base/log.ts";
import type { ExitStatus } from "./sources/console/exit.ts";
import type { CpuTime } from "./sources/proc/cpu_time.ts";
import { createConsoleReader } from "./sources/console/reader.ts";
import type { ConsoleReader } from "./sources/console/source.ts";
import { noListener, openListener } from "./serve/listener.ts";
import { type Plan, readPlan } from "./plan.ts";
import { startSession } from "./watch/session.ts";

/** Descriptors of the supervisor: the ring that it writes the console to, and the files of the streams. */
const RING = "/proc/self/fd/3";
const FILES = { stdout: "/proc/self/fd/4", stderr: "/proc/self/fd/5" };

if (import.meta.main) {
  try {
    await main(readPlan(Deno.args[0] ?? ""));
  } catch (error) {
    log(`no profile, the workload runs without one: ${error}`);
  }
  Deno.exit();
}

async function main({ listen, ...plan }: Plan): Promise<void> {
  const env = Deno.env.toObject();
  guardProcess({ env: Deno.env, events: globalThis });
  const messages = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
  const { value: first = "" } = await messages.read();
  const [, pid, rest = ""] = /^pid (\d+)\n([^]*)/.exec(first) ?? [];
  let ending = await readEnding(rest);
  // Nobody reads a run that is over, and drivers of devices may take seconds to start.
  const devices = ending ? undefined : plan.devices;
  const listener = ending ? noListener(listen.host) : openListener(listen);
  const now_ns = createClock();
  const { console, reason } = openConsole({ status: () => ending?.status ?? null, now_ns });
  const missing = { ...plan.missing, ...(reason !== undefined && { console_errors: reason }) };
  const run = { ...plan, devices, missing, now_ns, pid: Number(pid) };
  const waited = () => ending?.waited ?? null;
  const session = startSession({ ...run, env, listener, console, waited });
  while (!ending) {
    const { value, done } = await messages.read();
    if (done) break;
    ending = await readEnding(value);
    if (!ending) session.hurry();
  }
  await session.finish(ending?.at_ns);
}

function openConsole(
  options: { status: () => ExitStatus | null; now_ns: () => bigint },
): { console?: ConsoleReader; reason?: string } {
  const open = (stream: "stdout" | "stderr") => Deno.openSync(FILES[stream]);
  try {
    return { console: createConsoleReader(Deno.openSync(RING), { ...options, open }) };
  } catch (error) {
    return { reason: errorText(error) };
  }
}

/** The end of the workload. */
interface Ending {
  status: ExitStatus;
  at_ns: bigint;
  waited: CpuTime;
}

/** The end of the workload, from the supervisor's message; `undefined` if the supervisor was killed. */
async function readEnding(message = ""): Promise<Ending | undefined> {
  const [, how, digits, at_ns = "", user_us, system_us] =
    /^(exit|signal) (\d+) (\d+) (\d+) (\d+)$/m.exec(message) ?? [];
  if (how === undefined) return undefined;
  const number = Number(digits);
  const status = how === "exit"
    ? { code: number, signal: null }
    : { code: 128 + number, signal: await signalName(number) };
  return {
    status,
    at_ns: BigInt(at_ns),
    waited: { user_us: Number(user_us), system_us: Number(system_us) },
  };
}

async function signalName(number: number): Promise<string> {
  const { constants } = await import("node:os");
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return name ?? String(number);
}
