/** The sampler cuts windows at whole seconds, and goes on when a source fails. */

import assert from "node:assert/strict";
import type { Window } from "@service/core";
import fc from "fast-check";
import { Sampler } from "./sampler.ts";
import type { Source } from "../sources/source.ts";

const SECOND_NS = 1_000_000_000n;
const history = { add: () => Promise.resolve() };
const START_NS = 1_790_000_001n * SECOND_NS + 400_000_000n;
const COVERED = "profiler_covered_nanoseconds";
const SECOND = 1_790_000_002n * SECOND_NS;

/** A sampler of `sources` with a clock that is set, and the messages that the user gets. */
function sampler(...sources: Source[]) {
  const messages: string[] = [];
  const clock = { now_ns: START_NS };
  const sampler = new Sampler({
    start_ns: START_NS,
    now_ns: () => clock.now_ns,
    sources,
    history,
    log: (message) => messages.push(message),
  });
  return { sampler, clock, messages };
}

function total({ series }: Window, name: string): unknown {
  const found = [...series.values()].find((series) => series.name === name);
  return found && "total" in found ? found.total : undefined;
}

/** A source that counts how often it is asked. */
function counting(name: string): Source {
  return {
    sample: (recorder) => recorder.counter(name, {}, 1),
    canRefresh: () => true,
    refresh: (recorder) => Promise.resolve(recorder.counter(name, {}, 100)),
  };
}

Deno.test("a tick measures up to the whole second that has passed, once", async () => {
  const { sampler: subject, clock } = sampler(counting("a"));
  clock.now_ns = SECOND + 1_500_000n;
  await subject.tick();
  assert.equal(subject.total.to_ns, SECOND);
  assert.equal(await subject.tick(), false);
  assert.equal(total(subject.total, "a"), 1);
});

Deno.test("a late tick stands for those that it missed, and counts them", async () => {
  const { sampler: subject, clock } = sampler(counting("a"));
  clock.now_ns = SECOND;
  await subject.tick();
  clock.now_ns = SECOND + 5n * SECOND_NS;
  await subject.tick();
  assert.equal(total(subject.total, "a"), 2);
  assert.equal(total(subject.total, "profiler_skipped_ticks_total"), 4);
});

Deno.test("a window is due each ten seconds of the clock, also where that tick was missed", async () => {
  const { sampler: subject, clock } = sampler();
  const due: number[] = [];
  for (const second of [2, 9, 10, 11, 19, 21, 22, 45]) {
    clock.now_ns = (1_790_000_000n + BigInt(second)) * SECOND_NS;
    if (await subject.tick()) due.push(second);
  }
  assert.deepEqual(due, [10, 21, 45]);
});

Deno.test("a source that fails is logged once, and the others are sampled", async () => {
  const broken: Source = {
    sample() {
      throw new Error("broken");
    },
  };
  const { sampler: subject, clock, messages } = sampler(broken, counting("a"));
  for (let second = 0n; second < 3n; second++) {
    clock.now_ns = SECOND + second * SECOND_NS;
    await subject.tick();
  }
  assert.equal(total(subject.total, "a"), 3);
  assert.deepEqual(messages, ["a source failed, its metrics are missing: Error: broken"]);
  assert.deepEqual(subject.total.errors.map(({ level, message }) => [level, message]), [
    ["warning", `service-run: ${messages[0]}`],
  ]);
});

Deno.test("a refresh measures up to now, and never past the end of the next tick", async () => {
  const { sampler: subject, clock } = sampler(counting("a"));
  clock.now_ns = SECOND;
  await subject.tick();
  clock.now_ns = SECOND + 300_000_000n;
  assert.equal(await subject.refresh(), true);
  assert.equal(subject.total.to_ns, clock.now_ns);
  assert.equal(total(subject.total, "a"), 101);
  clock.now_ns = SECOND + 1_200_000_000n;
  assert.equal(await subject.refresh(), true);
  assert.equal(subject.total.to_ns, SECOND + SECOND_NS - 1n);
  assert.equal(await subject.refresh(), false);
  await subject.tick();
  assert.equal(subject.total.to_ns, SECOND + SECOND_NS);
  assert.equal(total(subject.total, "a"), 202);
});

Deno.test("windows cut for upload have what was measured since the last one, refreshes too", async () => {
  const { sampler: subject, clock } = sampler(counting("a"));
  clock.now_ns = SECOND;
  await subject.tick();
  await subject.refresh();
  assert.equal(total(subject.cut(), "a"), 101);
  clock.now_ns = SECOND + SECOND_NS;
  await subject.tick();
  const window = subject.cut();
  assert.equal(total(window, "a"), 1);
  assert.deepEqual([window.from_ns, window.to_ns], [SECOND + 1n, SECOND + SECOND_NS]);
  assert.equal(total(subject.total, "a"), 102);
});

Deno.test("windows cover the time to the end of the run, in any tiling by ticks and refreshes", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.tuple(fc.boolean(), fc.bigInt(0n, 2n * SECOND_NS)), { maxLength: 12 }),
    fc.array(fc.bigInt(0n, SECOND_NS), { minLength: 2, maxLength: 2 }),
    async (steps, [untilEnd_ns = 0n, untilLast_ns = 0n]) => {
      const { sampler: subject, clock } = sampler(counting("a"));
      const covered: unknown[] = [];
      for (const [isTick, later_ns] of steps) {
        clock.now_ns += later_ns;
        await (isTick ? subject.tick() : subject.refresh());
        assert.equal(total(subject.total, COVERED) ?? 0, Number(subject.total.to_ns - START_NS));
        covered.push(total(subject.cut(), COVERED) ?? 0);
      }
      clock.now_ns += untilEnd_ns;
      subject.end(clock.now_ns);
      // A refresh moves time on by a nanosecond where the clock does not.
      const ended_ns = clock.now_ns > subject.total.to_ns ? clock.now_ns : subject.total.to_ns;
      clock.now_ns += untilLast_ns;
      await subject.refresh();
      await subject.sample((clock.now_ns / SECOND_NS + 1n) * SECOND_NS);
      assert.equal(total(subject.total, COVERED), Number(ended_ns - START_NS));
      covered.push(total(subject.cut(), COVERED));
      assert.equal(
        covered.reduce((sum, part) => Number(sum) + Number(part), 0),
        Number(ended_ns - START_NS),
      );
    },
  ));
});

Deno.test("after the sources are settled nothing is refreshed, also if one of them failed", async () => {
  const failing: Source = { sample() {}, settle: () => Promise.reject(new Error("late")) };
  const { sampler: subject, clock } = sampler(failing, counting("a"));
  clock.now_ns = SECOND;
  await subject.tick();
  await subject.settle();
  clock.now_ns = SECOND + 500_000_000n;
  assert.equal(await subject.refresh(), false);
});
