/** Metrics of the workload's processes: which are found, and what each has used since its start. */

import assert from "node:assert/strict";
import type { Resource, Sum, Window } from "@service/core";
import { addSums, rounded } from "@service/core/sum";
import fc from "fast-check";
import type { CpuTime } from "./cpu_time.ts";
import { createProcessSource, type ProcessSourceOptions } from "./processes.ts";
import { Recorder } from "../recorder.ts";
import { command } from "../../../tests/command.ts";
import { testUnless } from "../../../tests/skipping.ts";

const test = testUnless(Deno.build.os === "linux" ? null : "not Linux");
const REAPER = 3;
const MARKER = `SERVICE_INSTANCE_ID=${crypto.randomUUID()}`;

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

Deno.test("windows of processor seconds add up to the ticks, divided once", async () => {
  using proc = new MadeUp();
  const source = watch(7, { proc: proc.folder });
  let sum: Sum = 0;
  for (const ticks of [3, 52, 53, 60, 90, 91, 498, 499, 100_007]) {
    proc.process(7, { user_ticks: ticks });
    for (const series of (await sampled(source)).series.values()) {
      if (series.name !== "process_user_cpu_seconds" || series.type !== "counter") continue;
      sum = addSums(sum, series.total);
    }
    assert.equal(sum, ticks / 100);
  }
});

Deno.test("the share of all processors is of the time between two readings", async () => {
  using proc = new MadeUp();
  let now_ms = 5000;
  const source = watch(7, { proc: proc.folder, clock_ms: () => now_ms });
  proc.process(7, { user_ticks: 1000 });
  const first = await sampled(source);
  assert.equal(valueOf(first, "process_cpu_usage_percent", "7"), undefined);
  proc.process(7, { user_ticks: 1100 });
  now_ms += 2000;
  // One second of the two on one of two processors.
  assert.equal(valueOf(await sampled(source), "process_cpu_usage_percent", "7"), 25);
});

Deno.test("a pid that means another process is measured from that one's start", async () => {
  using proc = new MadeUp();
  const source = watch(7, { proc: proc.folder });
  proc.process(7, {});
  proc.process(8, { parent: 7, start_ticks: 100, user_ticks: 200 });
  await sampled(source);
  proc.process(8, { parent: 7, start_ticks: 900, user_ticks: 300, comm: "other" });
  assert.deepEqual(pidsOf(await sampled(source)), new Set(["7"]));
  const window = await sampled(source);
  assert.equal(valueOf(window, "process_user_cpu_seconds", "8"), 3);
  assert.equal(resource(window, "8").attributes["process.command_line"], "[other]");
});

Deno.test("a process that ends while it is read leaves nothing", async () => {
  using proc = new MadeUp();
  const source = watch(7, { proc: proc.folder });
  proc.process(7, {});
  proc.process(8, { parent: 7 });
  proc.process(9, { parent: 7 });
  assert.deepEqual(pidsOf(await sampled(source)), new Set(["7", "8", "9"]));
  Deno.removeSync(`${proc.folder}/8/stat`);
  proc.process(9, { parent: 7, state: "Z" });
  const window = await sampled(source);
  assert.deepEqual(pidsOf(window), new Set(["7"]));
  assert.equal(window.resources.size, 1);
});

Deno.test("what may not be read is absent, and the rest is there", async () => {
  using proc = new MadeUp();
  proc.process(7, { user_ticks: 100 });
  for (const file of ["io", "status"]) Deno.removeSync(`${proc.folder}/7/${file}`);
  const window = await sampled(watch(7, { proc: proc.folder }));
  assert.equal(valueOf(window, "process_user_cpu_seconds", "7"), 1);
  assert.equal(valueOf(window, "process_threads", "7"), 1);
  for (const name of ["process_io_read_bytes", "process_memory_usage_bytes"]) {
    assert.equal(valueOf(window, name, "7"), undefined);
  }
});

Deno.test("a generation that was born in the wrong order of pids is still a generation", async () => {
  using proc = new MadeUp();
  proc.process(50, {});
  proc.process(40, { parent: 50 });
  proc.process(30, { parent: 40 });
  proc.process(20, { parent: 1 });
  const window = await sampled(watch(50, { proc: proc.folder }));
  assert.deepEqual(pidsOf(window), new Set(["30", "40", "50"]));
});

Deno.test("a process of many threads has them read now and then, and no switch is lost", async () => {
  using proc = new MadeUp();
  const source = watch(7, { proc: proc.folder });
  proc.process(7, { threads: 17 });
  let total = 0;
  let readings = 0;
  for (let sample = 1; sample <= 21; sample++) {
    proc.threads(7, 17, sample);
    const window = await sampled(source);
    const increase = valueOf(window, "process_context_switches_voluntary_total", "7");
    total += increase ?? 0;
    if (increase === undefined) continue;
    readings++;
    assert.equal(total, 17 * sample);
  }
  assert.equal(readings, 3);
});

Deno.test("of many processes each is read whole in its turn, and its processor time always", async () => {
  using proc = new MadeUp();
  const pids = Array.from({ length: 100 }, (_, i) => 7 + i);
  for (const pid of pids) proc.process(pid, { parent: pid === 7 ? 1 : 7 });
  const source = watch(7, { proc: proc.folder });
  const count = (window: Window, name: string) =>
    pids.filter((pid) => valueOf(window, name, String(pid)) !== undefined).length;
  assert.equal(count(await sampled(source), "process_memory_usage_bytes"), 100);
  let whole = 0;
  for (let sample = 0; sample < 4; sample++) {
    const window = await sampled(source);
    assert.equal(count(window, "process_user_cpu_seconds"), 100);
    const read = count(window, "process_memory_usage_bytes");
    assert(read <= 32, `${read} were read whole`);
    whole += read;
  }
  assert.equal(whole, 100);
});

Deno.test("the time of ended processes is what their waiters gain beyond their own series", async () => {
  using proc = new MadeUp();
  const source = watch(7, { proc: proc.folder });
  const ended = async () => {
    const window = await sampled(source);
    return ["user", "system"].map((mode) => totalOf(window, `process_ended_${mode}_cpu_seconds`));
  };
  proc.process(7, {});
  proc.process(8, { parent: 7, user_ticks: 70, system_ticks: 3 });
  assert.deepEqual(await ended(), [0, 0]);
  // It used 20 more, and with it one ended that was never seen.
  proc.gone(8);
  proc.process(7, { waited_ticks: [90 + 11, 3] });
  assert.deepEqual(await ended(), [0.31, 0]);
  // A waiter that was read before it waited gains in the next sample.
  proc.process(9, { parent: 7, user_ticks: 50 });
  assert.deepEqual(await ended(), [0, 0]);
  proc.gone(9);
  assert.deepEqual(await ended(), [0, 0]);
  proc.process(7, { waited_ticks: [90 + 11 + 60, 4] });
  assert.deepEqual(await ended(), [0.1, 0.01]);
  // One that nobody waits for is owed for a sample, and hides nothing after that.
  proc.process(10, { parent: 7, user_ticks: 500 });
  await ended();
  proc.gone(10);
  assert.deepEqual(await ended(), [0, 0]);
  assert.deepEqual(await ended(), [0, 0]);
  proc.process(7, { waited_ticks: [90 + 11 + 60 + 5, 4] });
  assert.deepEqual(await ended(), [0.05, 0]);
});

Deno.test("a process that nobody has waited for yet has its last time in its own series", async () => {
  using proc = new MadeUp();
  const source = watch(7, { proc: proc.folder });
  proc.process(7, {});
  proc.process(8, { parent: 7, user_ticks: 10 });
  await sampled(source);
  proc.process(8, { parent: 7, user_ticks: 75, state: "Z" });
  const window = await sampled(source);
  assert.equal(valueOf(window, "process_user_cpu_seconds", "8"), 0.65);
  assert.equal(valueOf(window, "process_threads", "8"), undefined);
  assert.deepEqual(pidsOf(await sampled(source)), new Set(["7"]));
  proc.gone(8);
  proc.process(7, { waited_ticks: [75, 0] });
  assert.equal(totalOf(await sampled(source), "process_ended_user_cpu_seconds"), 0);
});

Deno.test("the reaper's own children of before are not the run's, and its last word counts", async () => {
  using proc = new MadeUp();
  let waited: CpuTime | null = null;
  const reaper = { pid: REAPER, waited: () => waited };
  const source = watch(7, { proc: proc.folder, reaper });
  proc.process(REAPER, { waited_ticks: [1_000, 0] });
  proc.process(7, { parent: REAPER, user_ticks: 20 });
  const ended = async () => totalOf(await sampled(source), "process_ended_user_cpu_seconds");
  assert.equal(await ended(), 0);
  // An orphan that had no time to be seen.
  proc.process(REAPER, { waited_ticks: [1_030, 0] });
  assert.equal(await ended(), 0.3);
  proc.gone(7);
  proc.gone(REAPER);
  waited = { user_us: 512_345, system_us: 0 };
  assert.equal(await ended(), 0.012345);
});

Deno.test("all series add up to the processor time of the tree, whatever starts, works and ends", async () => {
  const step = fc.record({
    what: fc.constantFrom("start", "start", "work", "work", "end", "end", "sample"),
    which: fc.nat(100),
    ticks: fc.nat(90),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      using proc = new MadeUp();
      const tree = new ModelTree(proc);
      const source = watch(7, { proc: proc.folder });
      let sum = 0;
      const sample = async () => {
        const { series } = await sampled(source);
        for (const entry of series.values()) {
          if (entry.type !== "counter" || !/user_cpu_seconds$/.test(entry.name)) continue;
          sum += Math.round(rounded(entry.total) * 100);
        }
        // Newly forked and ended ones may be owed; never is more counted than was used.
        assert(sum <= tree.used, `${sum} ticks of ${tree.used}`);
      };
      await sample();
      for (const { what, which, ticks } of steps) {
        if (what === "sample") await sample();
        else tree[what](which, ticks);
      }
      await sample();
      assert.equal(sum, tree.used);
    }),
    { numRuns: 60 },
  );
});

Deno.test("of thousands of processes the busiest have series of their own, and the rest one set a command", async () => {
  using proc = new MadeUp();
  const source = watch(7, { proc: proc.folder });
  const used = new Map<number, number>();
  const write = (pid: number, ticks: number) => {
    used.set(pid, ticks);
    const comm = pid % 3 === 0 ? "loader" : "a b";
    proc.process(pid, { parent: pid === 7 ? 1 : 7, comm, user_ticks: ticks });
  };
  const counted = new Map<string, number>();
  const sample = async () => {
    const window = await sampled(source);
    for (const { name, tags, ...rest } of window.series.values()) {
      if (name !== "process_user_cpu_seconds" || rest.type !== "counter") continue;
      const key = tags["process.pid"] ?? tags["process.command"]!;
      counted.set(key, (counted.get(key) ?? 0) + Math.round(rounded(rest.total) * 100));
    }
    const sum = counted.values().reduce((sum, ticks) => sum + ticks, 0);
    assert.equal(sum, used.values().reduce((sum, ticks) => sum + ticks, 0));
    return window;
  };
  for (let pid = 7; pid < 1_407; pid++) write(pid, pid % 10);
  const first = await sample();
  assert.equal(pidsOf(first).size, 500);
  assert.equal(first.resources.size, 500);
  const gauges = (window: Window, name: string) =>
    ["loader", "a b"].map((command) =>
      window.series.values().find(({ name: of, tags }) =>
        of === name && tags["process.command"] === command
      )
    ).map((series) => series?.type === "gauge" ? Number(series.value) : NaN);
  const [loaders = NaN, others = NaN] = gauges(first, "process_count");
  assert.equal(loaders + others, 900);
  assert(loaders > 0 && others > 0);
  assert.deepEqual(gauges(first, "process_memory_usage_bytes"), [loaders * 4096, others * 4096]);
  // Some of the others begin to work, and those that have series stop.
  const own = pidsOf(first);
  const busy = [...used.keys()].filter((pid) => !own.has(String(pid))).slice(0, 20);
  for (const pid of busy) write(pid, 60 + pid % 10);
  await sample();
  for (const pid of busy) write(pid, 130);
  const window = await sample();
  assert.deepEqual(pidsOf(window), own.union(new Set(busy.map(String))));
  assert.equal(gauges(window, "process_memory_usage_bytes").reduce((a, b) => a + b), 880 * 4096);
  // They are gone: nothing of them is left in what the sums show.
  for (const pid of used.keys()) if (pid !== 7) proc.gone(pid);
  const last = await sampled(source);
  assert.deepEqual(gauges(last, "process_count"), [0, 0]);
  assert.deepEqual(gauges(last, "process_threads"), [0, 0]);
});

Deno.test("processes that come and go quickly leave room for the series of others", async () => {
  using proc = new MadeUp();
  const source = watch(7, { proc: proc.folder });
  proc.process(7, {});
  const keys = new Set<string>();
  for (let sample = 0; sample < 8; sample++) {
    const pids = Array.from({ length: 300 }, (_, i) => 100 + sample * 300 + i);
    for (const pid of pids) proc.process(pid, { parent: 7, user_ticks: 5 });
    for (const key of (await sampled(source)).series.keys()) keys.add(key);
    for (const pid of pids) proc.gone(pid);
  }
  assert(keys.size < 10_000, `${keys.size} series`);
});

Deno.test("a marker that another one starts with is not the marker", async () => {
  using proc = new MadeUp();
  proc.process(8, { environ: `A=1\0${MARKER}\0` });
  proc.process(9, { environ: `A=1\0${MARKER}0\0X${MARKER}\0` });
  const window = await sampled(watch(7, { proc: proc.folder }));
  assert.deepEqual(pidsOf(window), new Set(["8"]));
});

function watch(root: number, options: Partial<ProcessSourceOptions> = {}) {
  // This process may have the pid of a made-up one.
  const self = options.proc === undefined ? Deno.pid : 2;
  return createProcessSource({ root, marker: MARKER, reaper: { pid: REAPER }, self, ...options });
}

async function sampled(source: ReturnType<typeof watch>): Promise<Window> {
  const recorder = new Recorder(0n, () => 1n);
  await source.sample(recorder);
  return recorder.cut(1n);
}

function pidsOf({ series }: Window): Set<string> {
  const pids = Array.from(series.values(), ({ tags }) => tags["process.pid"]);
  return new Set(pids.filter((pid) => pid !== undefined));
}

function valueOf({ series }: Window, name: string, pid: string): number | undefined {
  for (const entry of series.values()) {
    if (entry.name !== name || entry.tags["process.pid"] !== pid) continue;
    if (entry.type === "gauge") return Number(entry.value);
    if (entry.type === "counter") return rounded(entry.total);
  }
}

function resource({ resources }: Window, pid: string): Resource {
  const found = [...resources.values()].find(({ tags }) => tags["process.pid"] === pid);
  assert.ok(found, `no resource ${pid}`);
  return found;
}

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

/** The increase of a counter in a window, to the microsecond. */
function totalOf({ series }: Window, name: string): number | undefined {
  const found = [...series.values()].find((entry) => entry.name === name);
  return found?.type === "counter" ? Math.round(rounded(found.total) * 1e6) / 1e6 : undefined;
}

interface ModelProcess {
  parent: number;
  own: number;
  waited: number;
}

/** Processes that start, work and end under the root 7, whose orphans the reaper adopts. */
class ModelTree {
  readonly #proc: MadeUp;
  readonly #processes = new Map<number, ModelProcess>();
  #pid = 7;
  /** Ticks that all have used. */
  used = 0;

  constructor(proc: MadeUp) {
    this.#proc = proc;
    this.#add(REAPER, 1);
    this.#add(7, REAPER);
  }

  start(which: number): void {
    this.#add(++this.#pid, this.#pick(which));
  }

  work(which: number, ticks: number): void {
    const pid = this.#pick(which);
    this.#processes.get(pid)!.own += ticks;
    this.used += ticks;
    this.#write(pid);
  }

  end(which: number, ticks: number): void {
    const pid = this.#pick(which);
    if (pid === 7) return;
    this.work(which, ticks);
    const { parent, own, waited } = this.#processes.get(pid)!;
    this.#processes.delete(pid);
    this.#proc.gone(pid);
    for (const [child, process] of this.#processes) {
      if (process.parent !== pid) continue;
      process.parent = REAPER;
      this.#write(child);
    }
    this.#processes.get(parent)!.waited += own + waited;
    this.#write(parent);
  }

  #add(pid: number, parent: number): void {
    this.#processes.set(pid, { parent, own: 0, waited: 0 });
    this.#write(pid);
  }

  /** A process of the workload. */
  #pick(which: number): number {
    const pids = [...this.#processes.keys()].filter((pid) => pid !== REAPER);
    return pids[which % pids.length]!;
  }

  #write(pid: number): void {
    const { parent, own, waited } = this.#processes.get(pid)!;
    this.#proc.process(pid, { parent, user_ticks: own, waited_ticks: [waited, 0] });
  }
}

interface MadeUpProcess {
  parent?: number;
  comm?: string;
  state?: string;
  user_ticks?: number;
  system_ticks?: number;
  /** Of children that it has waited for. */
  waited_ticks?: [user: number, system: number];
  start_ticks?: number;
  threads?: number;
  environ?: string;
}

/** A folder that looks like `/proc` of a machine with two processors. */
class MadeUp implements Disposable {
  readonly folder = Deno.makeTempDirSync();

  constructor() {
    this.#write("stat", "cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu1 1 2 3 4\n");
  }

  process(pid: number, options: MadeUpProcess): void {
    const { parent = 1, comm = "a b", state = "S", user_ticks = 0, start_ticks = 100 } = options;
    const { threads = 1, environ = "", system_ticks = 0, waited_ticks = [0, 0] } = options;
    const ticks = [user_ticks, system_ticks, ...waited_ticks].join(" ");
    Deno.mkdirSync(`${this.folder}/${pid}/fd`, { recursive: true });
    const status = `Name:\ta\nVmSize:\t8 kB\nVmRSS:\t4 kB\nThreads:\t${threads}\n`;
    const counts = `0 0 0 0 0 0 0 0 0 ${ticks} 20 0 ${threads} 0 ${start_ticks} 0 0`;
    this.#write(`${pid}/stat`, `${pid} (${comm}) ${state} ${parent} ${counts}\n`);
    this.#write(`${pid}/status`, `${status}${switches(1)}`);
    this.#write(`${pid}/io`, "rchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\n");
    this.#write(`${pid}/environ`, environ);
    this.#write(`${pid}/cmdline`, "");
  }

  /** Removes a process. */
  gone(pid: number): void {
    Deno.removeSync(`${this.folder}/${pid}`, { recursive: true });
  }

  threads(pid: number, count: number, times: number): void {
    for (let id = pid; id < pid + count; id++) {
      Deno.mkdirSync(`${this.folder}/${pid}/task/${id}`, { recursive: true });
      this.#write(`${pid}/task/${id}/status`, `Threads:\t${count}\n${switches(times)}`);
    }
  }

  #write(path: string, text: string): void {
    Deno.writeTextFileSync(`${this.folder}/${path}`, text);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

function switches(times: number): string {
  return `voluntary_ctxt_switches:\t${times}\nnonvoluntary_ctxt_switches:\t0\n`;
}
