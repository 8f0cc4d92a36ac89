/** Processes of a running workload: which are found, and what each has used since its start. */

import assert from "node:assert/strict";
import { command } from "../../../tests/command.ts";
import { testUnless } from "../../../tests/skipping.ts";
import { MARKER, pidsOf, resource, sampled, valueOf, watch } from "./testdata/made_up.ts";

const test = testUnless(Deno.build.os === "linux" ? null : "not Linux");

// Each program says its pids on one line, and ends when its standard input does.
const WAITS = `
import os, sys
print(os.getpid(), flush=True)
sys.stdin.read()
`;
const HAS_CHILD = `
import subprocess, sys, os
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()", "--api-key", "k"], env={})
print(os.getpid(), child.pid, flush=True)
child.wait()
`;
const IS_DAEMON = `
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        sys.stdin.read()
    os._exit(0)
os.wait()
`;
const HAS_THREADS = `
import os, sys, threading
ready, gate = threading.Barrier(9), threading.Event()
def work():
    for _ in range(3): threading.Event().wait(0.001)
    ready.wait()
    gate.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
ready.wait()
print(os.getpid(), flush=True)
sys.stdin.read()
gate.set()
`;
const WORKS = `
import os, sys, time
data = bytearray(64 << 20)
while time.process_time() < 0.3: pass
with open("/dev/zero", "rb") as zero: zero.read(1 << 20)
print(os.getpid(), flush=True)
sys.stdin.read()
`;

test("a process's child is measured, whatever environment it has", async () => {
  await using program = await start(HAS_CHILD);
  const [pid, child] = program.pids;
  const window = await sampled(watch(program.root));
  assert.deepEqual(pidsOf(window), new Set([pid, child]));
  const { attributes, tags } = resource(window, child!);
  assert.deepEqual(tags, { "process.pid": child });
  assert.equal(attributes["process.parent_pid"], pid);
  assert.match(attributes["process.command_line"]!, /-c .* --api-key \[redacted\]$/);
  assert.match(attributes["process.executable"]!, /\/python3[\d.]*$/);
  assert.equal(attributes["runtime.name"], "python");
});

test("a daemon is found by the environment that it took along", async () => {
  await using program = await start(IS_DAEMON);
  const [daemon] = program.pids;
  const window = await sampled(watch(program.root));
  assert.ok(pidsOf(window).has(daemon!));
});

test("neither strangers nor the profiler nor what it starts are measured", async () => {
  await using stranger = await start(WAITS, { env: {} });
  await using program = await start(WAITS);
  // The marker is there, the root is not: the profiler, here the test, is the parent of both.
  const window = await sampled(watch(2 ** 22 + 1));
  const pids = pidsOf(window);
  assert.ok(pids.has(program.pids[0]!));
  assert.ok(!pids.has(stranger.pids[0]!));
  assert.ok(!pids.has(String(Deno.pid)));
  const own = watch(Deno.pid);
  assert.ok(!pidsOf(await sampled(own)).has(String(Deno.pid)));
});

test("a process that starts later is found, and one that ended is dropped", async () => {
  await using first = await start(WAITS);
  const source = watch(first.root);
  assert.deepEqual(pidsOf(await sampled(source)), new Set(first.pids));
  {
    await using second = await start(WAITS);
    assert.deepEqual(pidsOf(await sampled(source)), new Set([...first.pids, ...second.pids]));
  }
  assert.deepEqual(pidsOf(await sampled(source)), new Set(first.pids));
});

test("processor time, memory and bytes count from the process's start", async () => {
  await using program = await start(WORKS);
  let now_ms = 0;
  const source = watch(program.root, { clock_ms: () => now_ms += 1000 });
  const window = await sampled(source);
  const [pid] = program.pids;
  const value = (name: string) => valueOf(window, name, pid!);
  const seconds = value("process_user_cpu_seconds")! + value("process_system_cpu_seconds")!;
  assert.ok(seconds >= 0.25 && seconds < 30, String(seconds));
  assert.ok(value("process_memory_usage_bytes")! > 64 * 2 ** 20);
  assert.ok(value("process_memory_virtual_bytes")! >= value("process_memory_usage_bytes")!);
  assert.ok(value("process_io_read_bytes")! >= 2 ** 20);
  assert.equal(value("process_threads"), 1);
  assert.ok(value("process_open_descriptors")! >= 3);
  assert.equal(value("process_cpu_usage_percent"), undefined);
  const next = await sampled(source);
  assert.equal(valueOf(next, "process_cpu_usage_percent", pid!), 0);
  assert.equal(valueOf(next, "process_user_cpu_seconds", pid!), 0);
});

test("switches of all threads are added up, not only those of the first", async () => {
  await using program = await start(HAS_THREADS);
  const window = await sampled(watch(program.root));
  const [pid] = program.pids;
  assert.equal(valueOf(window, "process_threads", pid!), 9);
  const first = /^voluntary_ctxt_switches:\t(\d+)$/m.exec(
    Deno.readTextFileSync(`/proc/${pid}/status`),
  );
  const all = valueOf(window, "process_context_switches_voluntary_total", pid!)!;
  assert.ok(all >= Number(first?.[1]) + 8 * 3, `${all} of which ${first?.[1]}`);
});

interface Program extends AsyncDisposable {
  root: number;
  pids: string[];
}

/** A program that runs until it is disposed, and the pids that it printed. */
async function start(script: string, { env = markerEnv() } = {}): Promise<Program> {
  const child = command(["python3", "-c", script], {
    env,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let line = "";
  for (let part = await lines.read(); !part.done; part = await lines.read()) {
    line += part.value;
    if (line.endsWith("\n")) break;
  }
  return {
    root: child.pid,
    pids: line.trim().split(" "),
    async [Symbol.asyncDispose]() {
      await child.stdin.close();
      // All that was started holds this pipe: its end is the end of them all.
      while (!(await lines.read()).done);
      await child.status;
    },
  };
}

function markerEnv(): Record<string, string> {
  const [name = "", value = ""] = MARKER.split("=");
  return { [name]: value };
}
