/** Run files of real runs: whole ones, those of a killed watcher, and those on a disk that fails. */

import assert from "node:assert/strict";
import { decode, mergeAll, seriesKey, signals, type Window } from "@service/core";
import { type Block, readBlock, readFrames, readWindow, WindowPacker } from "@service/core/packed";
import { SECOND_NS } from "@service/core/time";
import { sampleUpload } from "../bench/samples.ts";
import { HOME, run } from "../command.ts";
import { testUnless } from "../skipping.ts";
import { readLocal, startRun, until, watcherOf } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/** The windows of a file without damage, and whether the last one says so. */
async function readRunFile(path: string): Promise<{ windows: Window[]; final: boolean }> {
  const windows: Window[] = [];
  let block: Block | undefined;
  let final = false;
  for (const frame of readFrames(await Deno.readFile(path))) {
    if (frame.kind === "block") block = await readBlock(frame);
    else {
      const read = readWindow(frame, block!);
      windows.push(read.window);
      final = read.final;
    }
  }
  return { windows, final };
}

/** Counters by series. */
function totals(windows: readonly Window[]): Map<string, unknown> {
  const totals = new Map<string, unknown>();
  for (const [key, series] of mergeAll(windows).series) {
    if (series.type === "counter") totals.set(key, series.total);
  }
  return totals;
}

async function namesIn(path: string): Promise<string[]> {
  return await Array.fromAsync(Deno.readDir(path), ({ name }) => name).catch(() => []);
}

Deno.test("a run without a key leaves its windows in SERVICE_STATE_DIR, as its last document has them", async () => {
  await using directory = await temporaryDirectory();
  const env = { SERVICE_STATE_DIR: `${directory.path}/state` };
  await using started = startRun(["sleep", "1"], { directory: directory.path, env });
  const { status, stderr } = await started.ended;
  assert.equal(status.code, 0, stderr);
  const [file] = await namesIn(`${env.SERVICE_STATE_DIR}/runs`);
  const { windows, final } = await readRunFile(`${env.SERVICE_STATE_DIR}/runs/${file}`);
  assert(final);
  const id = file!.replace(".windows", "");
  const last = signals.check(
    decode(await Deno.readTextFile(`${env.SERVICE_STATE_DIR}/${id}.json`)),
  );
  const { to_ns } = windows.at(-1)!;
  assert.equal(to_ns, (last.payload_ns / SECOND_NS + 1n) * SECOND_NS);
  const found = totals(windows);
  const counters = last.metrics.filter(({ type }) => type === "counter");
  assert(counters.length > 5);
  for (const metric of counters) {
    assert.equal(found.get(seriesKey(metric)), metric.type === "counter" && metric.stats.total);
  }
  assert.deepEqual(await namesIn(directory.path), ["state"]);
});

Deno.test("SERVICE_RUN_FILES=0 leaves no file of the windows", async () => {
  await using directory = await temporaryDirectory();
  const env = { SERVICE_RUN_FILES: "0" };
  await using started = startRun(["true"], { directory: directory.path, env });
  assert.equal((await started.ended).status.code, 0);
  assert.deepEqual(await namesIn(`${directory.path}/service/runs`), []);
});

Deno.test("windows of a killed watcher are in the run file, and the workload goes on", async () => {
  await using directory = await temporaryDirectory();
  await using started = startRun(["sleep", "1000"], { directory: directory.path });
  const { context } = await readLocal(started);
  const path = `${directory.path}/service/runs/${context["instance.id"]}.windows`;
  await until(async () => (await Deno.stat(path).catch(() => ({ size: 0 }))).size > 0);
  Deno.kill(await watcherOf(started), "SIGKILL");
  const { windows, final } = await readRunFile(path);
  assert.equal(final, false);
  assert(totals(windows).size > 5);
  await Deno.stat(`/proc/${context["process.pid"]}`);
});

/** Shell code that runs the rest of its words where `runs` is a disk of 16 KiB. */
const SMALL = [
  ...["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"],
  'mkdir -p "$0/runs" && mount -t tmpfs -o size=16k none "$0/runs" && exec "$@"',
];

const { status } = await run([...SMALL, HOME, "true"]).catch(() => ({
  status: { success: false },
}));

testUnless(status.success ? null : "no tmpfs in a namespace here")(
  "a full disk is reported once, and the run goes on and ends",
  async () => {
    await using directory = await temporaryDirectory();
    const { path } = directory;
    const script = 'head -c 16k /dev/zero > "$0/runs/full"; exec "$@"';
    const snapshot = `${path}/last.json`;
    const ended = await run([
      ...[...SMALL, path, "sh", "-c", script, path, Deno.execPath(), "run", "-A", "--quiet"],
      ...[new URL("../../mod.ts", import.meta.url).pathname, "--listen-port", "0", "sleep", "12"],
    ], { SERVICE_STATE_DIR: path, SERVICE_SNAPSHOT_FILE: snapshot });
    assert.equal(ended.status.code, 0);
    assert.equal(ended.stderr.match(/cannot write \S+\.windows/g)?.length, 1, ended.stderr);
    const { metrics } = signals.check(decode(await Deno.readTextFile(snapshot)));
    const gauge = (name: string) => {
      const metric = metrics.find((metric) => metric.name === name);
      return metric?.type === "gauge" ? metric.stats.value : undefined;
    };
    assert(Number(gauge("profiler_run_file_pending_windows")) >= 1);
  },
);

Deno.test("where run files cannot be written the run is reported without them, at its normal speed", async () => {
  await using directory = await temporaryDirectory();
  await Deno.mkdir(`${directory.path}/service`);
  assert((await run(["mkfifo", `${directory.path}/service/runs`])).status.success);
  await using started = startRun(["true"], { directory: directory.path });
  const { status, stderr } = await started.ended;
  assert.equal(status.code, 0);
  assert.equal(stderr.match(/cannot write \S+\.windows/g)?.length, 1, stderr);
  const names = await namesIn(`${directory.path}/service`);
  const left = names.filter((name) => name !== "endpoints");
  assert.equal(left.length, 2, "the pipe and the last document");
});

Deno.test("the script of docs/profiling.md reads a run file", async () => {
  await using directory = await temporaryDirectory();
  const page = await Deno.readTextFile(new URL("../../docs/profiling.md", import.meta.url));
  const [, script] = /```ts\n([^]*?)```/.exec(page)!;
  const [example, file] = ["example.ts", "a.windows"].map((name) => `${directory.path}/${name}`);
  await Deno.writeTextFile(example!, script!);

  const { window, ...instance } = sampleUpload("0123456789ab", 1, 0);
  const { frame, block } = await new WindowPacker(instance).pack(window);
  const parts = [block.frame.bytes, frame.bytes, frame.bytes.subarray(0, 50)];
  await Deno.writeFile(file!, await new Blob(parts).bytes());
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const words = [Deno.execPath(), "run", "-A", "--quiet", "--config", config, example!, file!];
  const { status, stdout, stderr } = await run(words);
  assert(status.success, stderr);
  const [profile] = window.series.values();
  assert(profile?.type === "profile");
  const values = [...profile.frames.values()].map(({ value }) => Number(value));
  const shown = values.sort((a, b) => b - a).slice(0, 10);
  const rest = values.slice(10).reduce((sum, value) => sum + value, 0);
  assert.deepEqual(
    stdout.trim().split("\n").map((line) => Number(line.split(" ").at(-1))),
    [rest, ...shown].sort((a, b) => b - a),
  );
});
