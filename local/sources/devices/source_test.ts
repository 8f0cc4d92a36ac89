/** Devices from the segments of several pollers: each measured once, by whichever run polls it. */

import assert from "node:assert/strict";
import { binIndex } from "@service/core";
import fc from "fast-check";
import { temporaryDirectory } from "../../../tests/temporary_directory.ts";
import {
  DEVICE,
  find,
  gauge,
  increase,
  messages,
  scene,
  startPoller,
  test,
  watch,
} from "./testdata/pollers.ts";

test("gauges are quotients, zero is published, and what is not measured is absent", async () => {
  await using all = await scene();
  const { poller, run } = all;
  await poller.set("gauge", "gpu_power_usage_watts", DEVICE, [412_500, 1000]);
  await poller.set("gauge", "gpu_utilization_percent", DEVICE, [0]);
  await poller.set("gauge", "gpu_fan_speed_percent", DEVICE, [30, 0]);
  await poller.publish(run.now_ns);
  const window = await run.tick();
  const [watts] = find(window, "gpu_power_usage_watts", "gauge");
  assert.equal(watts?.value, 412.5);
  assert.deepEqual(watts?.tags, DEVICE);
  assert.equal(gauge(window, "gpu_utilization_percent"), 0);
  assert.equal(gauge(window, "gpu_fan_speed_percent"), undefined);
  assert.deepEqual(messages(window), []);
});

test("a counter counts from the start of the run, also where its poller began before", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/devices`;
  await using earlier = await startPoller(path);
  const joules = (poller: typeof earlier, value: number) =>
    poller.set("counter", "gpu_energy_joules", DEVICE, [value, 1000]);
  await joules(earlier, 5_000_100);
  await earlier.publish(1n);
  await using poller = await startPoller(path);
  using run = watch(path, poller.pid);
  await run.tick();
  await joules(earlier, 5_000_400);
  await earlier.publish(run.now_ns);
  const waiting = await run.tick();
  assert.equal(increase(waiting, "gpu_energy_joules"), undefined, "not before it is listed");
  await poller.list(DEVICE);
  assert.equal(increase(await run.tick(), "gpu_energy_joules"), 5000.4 - 5000.1);
  assert.equal(increase(await run.tick(), "gpu_energy_joules"), 0);
});

test("whoever polls, each increase counts once, and the time between two pollers is told", async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ joules: fc.integer({ min: 0, max: 2 ** 40 }) }) },
    { weight: 4, arbitrary: fc.constant("tick" as const) },
    { weight: 1, arbitrary: fc.constant("takeover" as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await using all = await scene();
      const { path, run } = all;
      await using stack = new AsyncDisposableStack();
      await run.tick();
      let poller = stack.use(await startPoller(path));
      let mine = 0;
      let polled_ns = 0n;
      let [expected, gap_ns] = [0, 0];
      let [found, told_ns] = [0, 0];
      let taken = false;
      const poll = async (joules: number) => {
        mine += joules;
        expected += joules;
        // As time does, each poll comes after the one before it.
        const now_ns = run.now_ns > polled_ns ? run.now_ns : polled_ns + 1024n;
        if (taken) gap_ns += Number(now_ns) - Number(polled_ns);
        taken = false;
        polled_ns = now_ns;
        await poller.set("counter", "gpu_energy_joules", DEVICE, [mine]);
        await poller.publish(polled_ns);
      };
      const tick = async () => {
        const window = await run.tick();
        found += increase(window, "gpu_energy_joules") ?? 0;
        told_ns += increase(window, "profiler_device_gap_nanoseconds") ?? 0;
        assert.deepEqual(messages(window).filter((text) => !/values/.test(text)), []);
      };
      await poll(0);
      await tick();
      for (const step of steps) {
        if (step === "tick") await tick();
        else if (step === "takeover") {
          await poller.kill();
          // Each poller is seen at least once: one that is not has no gap.
          await tick();
          poller = stack.use(await startPoller(path));
          [mine, taken] = [0, true];
          await poll(0);
          await tick();
        } else await poll(step.joules);
      }
      await tick();
      assert.equal(found, expected);
      assert.equal(told_ns, gap_ns);
      const left = [...Deno.readDirSync(path)].length;
      assert.equal(left, 2, "segments of ended pollers are removed");
    }),
    { numRuns: 12 },
  );
});

test("a distribution has one value for each poll", async () => {
  await using all = await scene();
  const { poller, run } = all;
  const name = "gpu_utilization_percent";
  const counted: number[] = [];
  for (const value of [25, 75]) {
    await poller.set("gauge", name, DEVICE, [value]);
    await poller.set("gauge", "gpu_temperature_celsius", DEVICE, [40]);
    await poller.publish(run.now_ns + 500_000_000n);
    for (let i = 0; i < 2; i++) {
      const window = await run.tick();
      assert.equal(gauge(window, name), value);
      const [series] = find(window, `${name}_distribution`, "histogram");
      counted.push(series?.count ?? 0);
      if (!series) continue;
      assert.deepEqual(series.buckets, { bins: new Map([[binIndex(value), 1]]) });
      assert.deepEqual([series.sum, series.min, series.max], [value, value, value]);
      assert.deepEqual(series.tags, DEVICE);
      assert.equal(find(window, "gpu_temperature_celsius_distribution", "histogram").length, 0);
    }
  }
  assert.deepEqual(counted, [1, 0, 1, 0]);
});
