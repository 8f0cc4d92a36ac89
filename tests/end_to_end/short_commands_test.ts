/** Commands that end before their watcher has started: it finishes after them. */

import assert from "node:assert/strict";
import { decode, instanceList, type Signals, signals } from "@service/core";
import { readFrames } from "@service/core/packed";
import { type Hosted, type RunOptions, startHosted, startRun, until, uploadTo } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/** Runs a command as in a shell, where the watcher may finish alone. */
function startShort(command: string[], { env, ...options }: RunOptions) {
  return startRun(command, { ...options, env: { CI: "", SERVICE_DEBUG: "", ...env } });
}

/** The last document of the only run in `directory`, as soon as nothing of the run is left. */
async function lastOf(directory: string): Promise<Signals> {
  const state = `${directory}/service`;
  const name = await until(async () => (await namesIn(state)).find((name) => /json$/.test(name)));
  const id = name.replace(".json", "");
  await until(async () => !(await processes()).some((words) => words.includes(id)));
  return signals.check(decode(await Deno.readTextFile(`${state}/${name}`)));
}

async function namesIn(path: string): Promise<string[]> {
  return await Array.fromAsync(Deno.readDir(path), ({ name }) => name).catch(() => []);
}

/** Command lines of all processes. */
async function processes(): Promise<string[]> {
  const pids = (await namesIn("/proc")).filter((name) => /^\d+$/.test(name));
  const read = (pid: string) => Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
  return await Promise.all(pids.map(read));
}

function covered_ns({ metrics }: Signals): bigint {
  const { stats } = metrics.find(({ name }) => name === "profiler_covered_nanoseconds")!;
  return "total" in stats ? BigInt(stats.total) : 0n;
}

Deno.test("the document of a command that ends at once has its output, its end and its time", async () => {
  await using directory = await temporaryDirectory();
  const script = "echo 'ValueError: too short' >&2; exit 3";
  const before_ms = Date.now();
  const { status, stderr } = await startShort(["bash", "-c", script], { directory: directory.path })
    .ended;
  const took_ms = Date.now() - before_ms;
  assert.equal(status.code, 3);
  assert.equal(stderr, "ValueError: too short\n");
  const last = await lastOf(directory.path);
  const error = last.errors.find(({ tags = {} }) => tags["exit.code"] === "3");
  assert.equal(error?.exception, "ValueError: too short");
  assert(covered_ns(last) > 0n && covered_ns(last) <= BigInt(took_ms) * 1_000_000n);
  assert.equal(last.payload_ns - last.start_ns, covered_ns(last));
  const runs = `${directory.path}/service/runs`;
  const [file] = await namesIn(runs);
  const frames = Array.from(readFrames(await Deno.readFile(`${runs}/${file}`)));
  assert(frames.some(({ kind }) => kind === "window"));
  assert.deepEqual(await namesIn(`${directory.path}/service/endpoints`), []);
});

Deno.test("a command that is ended at its start ends the run the same way, and its document says so", async () => {
  await using directory = await temporaryDirectory();
  // Its parent is the process that the shell has started.
  const script = "kill $PPID; exec sleep 1000";
  const work = startShort(["bash", "-c", script], { directory: directory.path });
  assert.equal((await work.ended).status.signal, "SIGTERM");
  const { errors } = await lastOf(directory.path);
  assert.deepEqual(errors.map(({ tags }) => tags?.["exit.signal"]), ["SIGTERM"]);
});

Deno.test("a run that is ended before its command has started ends by the signal", async () => {
  await using directory = await temporaryDirectory();
  const work = startShort(["sleep", "1000"], { directory: directory.path });
  work.process.kill("SIGTERM");
  assert.equal((await work.ended).status.signal, "SIGTERM");
});

Deno.test("commands that follow each other at once do not find the port taken", async () => {
  for (let i = 0; i < 3; i++) {
    await using directory = await temporaryDirectory();
    const flags = ["--listen-host", "127.0.0.79"];
    const work = startShort(["true"], { directory: directory.path, flags });
    assert.equal((await work.ended).stderr, "");
    await lastOf(directory.path);
  }
});

Deno.test("what a command that ends at once leaves is uploaded", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  const env = uploadTo(hosted);
  const { status } = await startShort(["true"], { directory: directory.path, env }).ended;
  assert.equal(status.code, 0);
  const last = await lastOf(directory.path);
  assert.equal(covered_ns(await hostedOf(hosted)), covered_ns(last));
});

async function hostedOf(hosted: Hosted): Promise<Signals> {
  const { instances: [instance] } = await hosted.get("/api/v1/instances", instanceList);
  const { instance_id, first_seen_ts } = instance!;
  const query = `instance_id=${instance_id}&start=${first_seen_ts}`;
  return await hosted.get(`/api/v1/signals?${query}`, signals);
}

Deno.test("the file that the user asked for is there when a command that ends at once is over", async () => {
  await using directory = await temporaryDirectory();
  const file = `${directory.path}/last.json`;
  const env = { SERVICE_SNAPSHOT_FILE: file };
  await startShort(["true"], { directory: directory.path, env }).ended;
  assert(covered_ns(signals.check(decode(await Deno.readTextFile(file)))) > 0n);
});
