/**
 * The public client `graphsignal-context` against the hosted API: `GRAPHSIGNAL_CONTEXT` names a folder
 * with its package and those it needs.
 */

import assert from "node:assert/strict";
import { run } from "../command.ts";
import { testUnless } from "../skipping.ts";
import { startHosted, startRun } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

const PACKAGES = Deno.env.get("GRAPHSIGNAL_CONTEXT");

const test = testUnless(
  PACKAGES ? null : "no graphsignal-context: its folder in GRAPHSIGNAL_CONTEXT",
);

test("graphsignal-context reads the context and the guide, and is told what is wrong", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  const begun = Date.now();
  await using profiled = startRun(["sh", "-c", 'echo "ERROR: disk full" >&2; exec sleep 1'], {
    directory: directory.path,
    flags: ["--listen-port", "0", "--tag", "job=client test;1"],
    env: { SERVICE_API_BASE: hosted.url, SERVICE_API_KEY: hosted.key },
  });
  await profiled.ended;
  const iso = (ms: number) => new Date(ms).toISOString();
  const span = ["--start", iso(begun - 1_000), "--end", iso(Date.now() + 60_000)];
  const client = (...args: string[]) =>
    run(["python3", "-m", "graphsignal_context", ...args], {
      PYTHONPATH: PACKAGES!,
      GRAPHSIGNAL_API_BASE: hosted.url,
      GRAPHSIGNAL_API_KEY: hosted.key,
    });

  const all = await client("signals", ...span, "--tags", "job:client test%3B1");
  assert.equal(all.status.code, 0, all.stderr);
  assert.match(all.stdout, /^## What this is\n/);
  assert.match(all.stdout, /`job=client test;1`/);
  assert.match(all.stdout, /`[^`]*disk full`/);

  const none = await client("signals", ...span, "--tags", "job:other");
  assert.match(none.stdout, /Nothing matched: no instance with the tags `job:other`/);
  assert.match(none.stdout, /`client test;1`/);

  const guide = await client("guide");
  assert.equal(guide.status.code, 0, guide.stderr);
  assert.match(guide.stdout, /start_time_ns/);

  const wrong = await client("signals", ...span, "--tags", "job");
  assert.notEqual(wrong.status.code, 0);
  assert.match(wrong.stderr, /"status":422.*"parameter":"tags"/);
});
