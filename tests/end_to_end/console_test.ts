/** Much output at once: what may matter in it is found, or counted as not looked at. */

import assert from "node:assert/strict";
import { decode, type Signals, signals } from "@service/core";
import { temporaryDirectory } from "../temporary_directory.ts";
import { startRun } from "../stack.ts";
import { test } from "./supervisor.ts";

const LINES = [
  "INFO 11-21 01:02:03 [loggers.py:12] Avg prompt throughput: 31.4 tokens/s, Running: 7 reqs",
  'INFO:     127.0.0.1:4711 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
  "step 120 loss 2.31 lr 0.0003 grad_norm 1.27 tokens per second 9120",
];

/** Writes output of about `megabytes` with as many errors as there are `names` to a file. */
async function writeOutput(path: string, megabytes: number, names: readonly string[]) {
  using file = await Deno.create(path);
  const encoder = new TextEncoder();
  const ordinary = `${LINES.join("\n")}\n`;
  const between = ordinary.repeat(megabytes * 1e6 / names.length / ordinary.length);
  for (const name of names) {
    const text = `${between}ERROR 11-21 01:02:03 [core.py:708] no ${name} here\n`;
    for (let bytes = encoder.encode(text); bytes.length > 0;) {
      bytes = bytes.subarray(await file.write(bytes));
    }
  }
}

/** The names in the errors of a run that writes `names` among much else, and the bytes not looked at. */
async function namesFound(names: readonly string[], { megabytes = 64, redirection = "" }) {
  await using directory = await temporaryDirectory();
  const { path } = directory;
  await writeOutput(`${path}/output`, megabytes, names);
  const SERVICE_SNAPSHOT_FILE = `${path}/last.json`;
  await using run = startRun(["cat", `${path}/output`], {
    directory: path,
    env: { SERVICE_SNAPSHOT_FILE, SERVICE_DEBUG: "" },
    redirection: redirection.replace("$D", path),
  });
  assert.equal((await run.ended).status.code, 0);
  const payload = signals.check(decode(await Deno.readTextFile(SERVICE_SNAPSHOT_FILE)));
  const found = payload.errors.map(({ message }) => /^no (\w+) here$/.exec(message)?.[1]);
  return { found: found.filter((name) => name !== undefined), lost_bytes: lostBytes(payload) };
}

function lostBytes({ metrics }: Signals): number {
  const lost = metrics.find(({ name }) => name === "profiler_lost_console_bytes");
  assert(lost?.type === "counter");
  return Number(lost.stats.total);
}

const NAMES = Array.from({ length: 20 }, (_, n) => String.fromCharCode(97 + n).repeat(3));

for (const redirection of ["> $D/log", "> $D/log 2>&1", ">> $D/output.log"]) {
  test(`no error in a regular file is missed: ${redirection}`, async () => {
    const { found, lost_bytes } = await namesFound(NAMES, { redirection });
    assert.deepEqual([found.toSorted(), lost_bytes], [NAMES, 0]);
  });
}

test("an error in a flood through a pipe is found, or bytes are counted as not looked at", async () => {
  const { found, lost_bytes } = await namesFound(NAMES, { redirection: "| cat > /dev/null" });
  assert(found.length === NAMES.length || lost_bytes > 0, `${found.length} found`);
});
