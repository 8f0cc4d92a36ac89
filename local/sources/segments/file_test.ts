/** Segment files: those of another user are refused, except by root. */

import assert from "node:assert/strict";
import { temporaryDirectory } from "../../../tests/temporary_directory.ts";
import { SegmentFile } from "./file.ts";
import { run } from "../../../tests/command.ts";
import { testUnless } from "../../../tests/skipping.ts";

const STRANGER = 12_345;
/** A user namespace without root, in which other users are mapped to `nobody`. */
const NOT_ROOT = ["--user", "--map-user=1000"];
const missing = Deno.uid() !== 0
  ? "only root can give a file away"
  : await succeeds([...NOT_ROOT, "true"])
  ? null
  : "no user namespace here";

testUnless(missing)("a stranger's file is refused, but to root, who trusts all", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/segment`;
  Deno.writeTextFileSync(path, "");
  Deno.chmodSync(path, 0o644);
  Deno.chmodSync(directory.path, 0o755);
  assert.equal(await readAsUser(path), "");
  Deno.chownSync(path, STRANGER, STRANGER);
  assert.match(await readAsUser(path), /it belongs to user \d+/);
  new SegmentFile(path)[Symbol.dispose]();
});

/** What opening it says in a process that is not root. */
async function readAsUser(path: string): Promise<string> {
  const code = `import { SegmentFile } from "${import.meta.resolve("./file.ts")}";
    try { new SegmentFile(${
    JSON.stringify(path)
  }); } catch (error) { console.log(error.message); }`;
  const words = ["unshare", ...NOT_ROOT, Deno.execPath(), "eval", "--quiet", code];
  const { stdout, stderr } = await run(words);
  assert.equal(stderr, "");
  return stdout;
}

async function succeeds(args: string[]): Promise<boolean> {
  return await run(["unshare", ...args]).then(({ status }) => status.success, () => false);
}
