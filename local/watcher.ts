/**
 * The watcher as a process of its own: the supervisor starts it beside the workload, tells it on stdin
 * how the workload fares, and shows it the console as descriptor 3. It may be killed at any moment.
 */

import { constants } from "node:os";
import { createClock } from "./base/clock.ts";
import { guardProcess } from "./base/guard.ts";
import { errorText, log } from "./base/log.ts";
import type { ExitStatus } from "./sources/console/exit.ts";
import { createConsoleReader } from "./sources/console/ring.ts";
import type { ConsoleReader } from "./sources/console/source.ts";
import { openListener } from "./serve/listener.ts";
import { readPlan } from "./plan.ts";
import { startSession } from "./watch/session.ts";

/** The ring that the supervisor leaves to us. */
const RING = "/proc/self/fd/3";

if (import.meta.main) {
  try {
    await main(readPlan(Deno.args[0] ?? ""));
  } catch (error) {
    log(`no profile, the workload runs without: ${error}`);
  }
  Deno.exit();
}

async function main({ listen, ...plan }: ReturnType<typeof readPlan>): Promise<void> {
  const env = Deno.env.toObject();
  guardProcess({ env: Deno.env, events: globalThis });
  const news = readNews();
  const { value: first = "" } = await news.next();
  const pid = Number(/^pid (\d+)$/.exec(first)?.[1]);
  // The launcher had the port; should it be taken since, the workload runs already.
  const listener = openListener({ ...listen, named: false });
  let ending: ExitStatus | null = null;
  const { console, why } = openConsole(() => ending);
  const missing = why === undefined ? plan.missing : { ...plan.missing, console_errors: why };
  const now_ns = createClock();
  const session = startSession({ ...plan, missing, now_ns, pid, env, listener, console });
  // "exit N" or "signal N", or nothing where the supervisor was killed: the end in any case.
  const { value: last = "" } = await news.next();
  ending = readEnding(last);
  await session.finish();
}

function openConsole(status: () => ExitStatus | null): { console?: ConsoleReader; why?: string } {
  try {
    return { console: createConsoleReader(Deno.openSync(RING), status) };
  } catch (error) {
    return { why: errorText(error) };
  }
}

/** How the workload ended, in the supervisor's words. */
function readEnding(line: string): ExitStatus | null {
  const [, how, digits] = /^(exit|signal) (\d+)$/.exec(line) ?? [];
  const number = Number(digits);
  if (how === "exit") return { code: number, signal: null };
  if (how !== "signal") return null;
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return { code: 128 + number, signal: signal ?? String(number) };
}

/** What the supervisor says, line by line. */
async function* readNews(): AsyncGenerator<string> {
  let text = "";
  for await (const part of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (text + part).split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}
