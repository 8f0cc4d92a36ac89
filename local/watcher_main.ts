/**
 * The watcher as a process of its own: the supervisor starts it beside the workload, tells it on stdin
 * how the workload fares, and shows it the console as descriptor 3. It may be killed at any moment.
 */

import { createClock } from "./clock.ts";
import { openListener } from "./listener.ts";
import { readPlan } from "./plan.ts";
import { complain, startSession } from "./session.ts";

if (import.meta.main) {
  try {
    await main(readPlan(Deno.args[0] ?? ""));
  } catch (error) {
    complain(`no profile, the workload runs without: ${error}`);
  }
  Deno.exit();
}

async function main({ listen, ...plan }: ReturnType<typeof readPlan>): Promise<void> {
  const env = Deno.env.toObject();
  // It would move our own server.
  Deno.env.delete("DENO_SERVE_ADDRESS");
  const news = readNews();
  const { value: first = "" } = await news.next();
  const pid = Number(/^pid (\d+)$/.exec(first)?.[1]);
  // The launcher had the port; should it be taken since, the workload runs already.
  const listener = openListener({ ...listen, named: false });
  const session = startSession({ ...plan, now_ns: createClock(), pid, env, listener });
  // "exit N" or "signal N", or nothing where the supervisor was killed: the end in any case.
  await news.next();
  await session.finish();
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
