/** Helpers for tests of the native supervisor. */

import assert from "node:assert/strict";
import { run } from "../command.ts";
import { type Test, testUnless } from "../skipping.ts";

/** Path of the checkout. */
export const ROOT = new URL("../..", import.meta.url).pathname;

/** Path of the native supervisor. */
export const SUPERVISOR = `${ROOT}ffi/build/service-supervisor`;

const built = await Deno.stat(SUPERVISOR).then(() => true, () => false);

/** The reason that there is no supervisor here, or `null`. */
export const missing: string | null = built ? null : "the supervisor is not built";

/** Registers a test of the supervisor. */
export const test: Test = testUnless(missing);

/** A step of a terminal session: input, or output to wait for. */
export type Step =
  | { expect: string }
  | { send: string }
  | { size: [number, number] }
  | { pause: number };

/** Runs a command in a terminal of 30 rows and 100 columns. */
export async function inTerminal(command: string[], steps: Step[] = []) {
  const words = ["python3", `${ROOT}tests/end_to_end/terminal.py`];
  const { stdout, stderr } = await run([...words, JSON.stringify(command), JSON.stringify(steps)]);
  assert.equal(stderr, "");
  return JSON.parse(stdout) as { shown: string; status: number };
}

/** Text that a shell prints, run by `bash` with `$S` for the supervisor and `$0` for `text`. */
export async function shell(script: string, text = "") {
  const words = ["bash", "-c", script, text];
  const { status, stdout, stderr } = await run(words, { S: `${SUPERVISOR} --` });
  return { stdout, stderr, code: status.code };
}
