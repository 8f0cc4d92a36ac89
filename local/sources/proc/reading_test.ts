/** What is read of a process: exact times and shares, all threads in their turn, and nothing that may not be read. */

import assert from "node:assert/strict";
import type { Sum, Window } from "@service/core";
import { addSums } from "@service/core/sum";
import { MadeUp, sampled, valueOf, watch } from "./testdata/made_up.ts";

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
