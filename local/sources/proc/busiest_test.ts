/** Thousands of processes: the busiest have series of their own, the others one set a command. */

import assert from "node:assert/strict";
import type { Window } from "@service/core";
import { rounded } from "@service/core/sum";
import { MadeUp, pidsOf, sampled, watch } from "./testdata/made_up.ts";

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
  for (let sample = 0; sample < 4; sample++) {
    const pids = Array.from({ length: 300 }, (_, i) => 100 + sample * 300 + i);
    for (const pid of pids) proc.process(pid, { parent: 7, user_ticks: 5 });
    for (const key of (await sampled(source)).series.keys()) keys.add(key);
    for (const pid of pids) proc.gone(pid);
  }
  assert(keys.size < 10_000, `${keys.size} series`);
});
