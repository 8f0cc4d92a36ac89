/** Errors of a workload, in the final payload. */

import assert from "node:assert/strict";
import { decode, type ErrorEntry, signals } from "@service/core";
import { temporaryDirectory } from "../temporary_directory.ts";
import { startRun } from "../stack.ts";

const SCRIPT = `
import logging, sys
logging.basicConfig()
print("ordinary output")
try:
    1 / 0
except ZeroDivisionError:
    logging.exception("a step failed with api_key=s3cr3t")
for i in range(3):
    logging.warning("slow batch %d", i)
raise RuntimeError("the end")
`;

/** The errors of the last payload of a run, oldest first. */
async function errorsOf(command: string[]): Promise<{ code: number; errors: ErrorEntry[] }> {
  await using directory = await temporaryDirectory();
  const snapshotFile = `${directory.path}/last.json`;
  await using run = startRun(command, {
    directory: directory.path,
    env: { SERVICE_SNAPSHOT_FILE: snapshotFile, SERVICE_DEBUG: "" },
  });
  const { status } = await run.ended;
  const { errors } = signals.check(decode(await Deno.readTextFile(snapshotFile)));
  return { code: status.code, errors: errors.toReversed() };
}

Deno.test("warnings and errors of the workload are in the payload, up to its last line", async () => {
  const { code, errors } = await errorsOf(["python3", "-c", SCRIPT]);
  assert.equal(code, 1);
  const reported = errors.map(({ level, message }) => `${level}: ${message}`);
  assert.deepEqual(reported.slice(0, 2), [
    "error: a step failed with api_key=[redacted]",
    "warning: slow batch 0",
  ]);
  assert(reported.includes("error: RuntimeError: the end"), reported.join("\\n"));
  assert.match(errors[0]!.exception, /ZeroDivisionError: division by zero$/);
  assert.equal(errors[0]!.tags?.["stream"], "stderr");
  const last = errors.at(-1)!;
  assert.match(last.message, /exited with status 1/);
  assert.match(last.exception, /RuntimeError: the end/);
  assert.equal(last.tags?.["exit.code"], "1");
});

Deno.test("a crash without output is reported by its signal", async () => {
  const { errors } = await errorsOf(["bash", "-c", "echo boom >&2; kill -SEGV $$"]);
  assert.equal(errors.at(-1)!.tags?.["exit.signal"], "SIGSEGV");
  assert.match(errors.at(-1)!.exception, /boom/);
});

Deno.test("a workload without warnings has no errors", async () => {
  assert.deepEqual((await errorsOf(["echo", "fine"])).errors, []);
});
