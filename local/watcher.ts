/**
 * Entry of the watcher's process. The supervisor starts it beside the workload, sends the workload's pid
 * and its end on stdin, and passes the console as descriptor 3. It may be killed at any moment.
 */

import { constants } from "node:os";
import { createClock } from "./base/clock.ts";
import { guardProcess } from "./base/guard.ts";
import { errorText, log } from "./base/log.ts";
import type { ExitStatus } from "./sources/console/exit.ts";
import { createConsoleReader } from "./sources/console/ring.ts";
import type { ConsoleReader } from "./sources/console/source.ts";
import { openListener } from "./serve/listener.ts";
import { type Plan, readPlan } from "./plan.ts";
import { startSession } from "./watch/session.ts";

/** The ring that the supervisor writes the console to. */
const RING = "/proc/self/fd/3";

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
  const lines = readLines();
  const { value: first = "" } = await lines.next();
  const pid = Number(/^pid (\d+)$/.exec(first)?.[1]);
  const listener = openListener(listen);
  let ending: ExitStatus | null = null;
  const { console, reason } = openConsole(() => ending);
  const missing = { ...plan.missing, ...(reason !== undefined && { console_errors: reason }) };
  const now_ns = createClock();
  const session = startSession({ ...plan, missing, now_ns, pid, env, listener, console });
  // "exit N", "signal N", or nothing if the supervisor was killed: in any case the end.
  const { value: last = "" } = await lines.next();
  ending = readEnding(last);
  await session.finish();
}

function openConsole(
  status: () => ExitStatus | null,
): { console?: ConsoleReader; reason?: string } {
  try {
    return { console: createConsoleReader(Deno.openSync(RING), status) };
  } catch (error) {
    return { reason: errorText(error) };
  }
}

/** The end of the workload, from the supervisor's message. */
function readEnding(line: string): ExitStatus | null {
  const [, how, digits] = /^(exit|signal) (\d+)$/.exec(line) ?? [];
  const number = Number(digits);
  if (how === "exit") return { code: number, signal: null };
  if (how !== "signal") return null;
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return { code: 128 + number, signal: signal ?? String(number) };
}

/** The supervisor's messages on stdin, line by line. */
async function* readLines(): AsyncGenerator<string> {
  let text = "";
  for await (const part of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const parts = (text + part).split("\n");
    text = parts.pop() ?? "";
    yield* parts;
  }
}
