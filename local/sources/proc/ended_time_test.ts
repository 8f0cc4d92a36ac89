/** The processor time of ended processes, which no series of their own has. */

import assert from "node:assert/strict";
import { rounded } from "@service/core/sum";
import fc from "fast-check";
import type { CpuTime } from "./cpu_time.ts";
import { MadeUp, pidsOf, REAPER, sampled, totalOf, valueOf, watch } from "./testdata/made_up.ts";

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
