/** Devices in trouble: values that are too old, lost devices, calls that hang, XIDs, and what is told of them. */

import assert from "node:assert/strict";
import type { Window } from "@service/core";
import { SECOND_NS } from "@service/core/time";
import { temporaryDirectory } from "../../../tests/temporary_directory.ts";
import {
  DEVICE,
  gauge,
  increase,
  messages,
  scene,
  startPoller,
  test,
  watch,
} from "./testdata/pollers.ts";

test("gauges of an old poll vanish, which is told once, and so is their return", async () => {
  await using all = await scene();
  const { poller, run } = all;
  await poller.set("gauge", "gpu_temperature_celsius", DEVICE, [40]);
  await poller.publish(run.now_ns);
  assert.equal(gauge(await run.tick(3), "gpu_temperature_celsius"), 40);
  await poller.set("gauge", "lost", { ...DEVICE, reason: "lost" }, [1]);
  await poller.tell("publish");
  const stale = await run.tick();
  assert.equal(gauge(stale, "gpu_temperature_celsius"), undefined);
  assert.equal(gauge(stale, "profiler_capture_state"), 0);
  assert.deepEqual(messages(stale), ["service-run: no values any more of GPU-1 (lost)"]);
  assert.deepEqual(messages(await run.tick()), []);
  await poller.set("gauge", "lost", { ...DEVICE, reason: "lost" }, [1, 0]);
  await poller.publish(run.now_ns);
  const back = await run.tick();
  assert.equal(gauge(back, "gpu_temperature_celsius"), 40);
  assert.deepEqual(messages(back), ["service-run: values again of GPU-1"]);
  assert.deepEqual(messages(await run.tick()), []);
});

test("a device that is lost has no gauges, however new its last poll is", async () => {
  await using all = await scene();
  const { poller, run } = all;
  await poller.set("gauge", "gpu_temperature_celsius", DEVICE, [40]);
  await poller.set("gauge", "lost", { ...DEVICE, reason: "lost" }, [1]);
  await poller.publish(run.now_ns);
  assert.equal(gauge(await run.tick(), "gpu_temperature_celsius"), undefined);
});

test("gauges stay while a driver is slow, and its polls are rare", async () => {
  await using all = await scene();
  const { poller, run } = all;
  await poller.set("gauge", "gpu_temperature_celsius", DEVICE, [40]);
  const found: (number | undefined)[] = [];
  for (const seconds of [2, 5, 5]) {
    await poller.publish(run.now_ns);
    for (let i = 0; i < seconds; i++) {
      found.push(gauge(await run.tick(), "gpu_temperature_celsius"));
    }
  }
  assert.deepEqual(new Set(found), new Set([40]));
  for (let i = 0; i < 4; i++) await run.tick();
  assert.equal(gauge(await run.tick(), "gpu_temperature_celsius"), undefined);
});

test("XID events are told with their meaning, a storm of them once a minute", async () => {
  await using all = await scene();
  const { poller, run } = all;
  const tags = { ...DEVICE, xid: "79" };
  const told: string[] = [];
  let entry;
  for (let second = 0; second < 62; second++) {
    await poller.set("counter", "xid", tags, [second * 100]);
    await poller.publish(run.now_ns);
    const window = await run.tick();
    entry ??= window.errors[0];
    told.push(...messages(window));
  }
  assert.equal(told.length, 2);
  assert.match(told[0]!, /^XID 79 on GPU-1 \(100 times\): .*bus/);
  assert.match(told[1]!, /^XID 79 on GPU-1 \(6000 times\): /);
  assert.equal(entry?.level, "error");
  assert.deepEqual(entry?.tags, tags);
});

test("a call that hangs is named once, and its end told", async () => {
  await using all = await scene();
  const { poller, run } = all;
  await poller.set("gauge", "gpu_temperature_celsius", DEVICE, [40]);
  await poller.publish(run.now_ns);
  await run.tick();
  await poller.tell("call nvmlDeviceGetTemperature");
  for (const seconds of [1, 3]) assert.deepEqual(messages(await run.tick(seconds)), []);
  const [told, ...more] = messages(await run.tick(5));
  assert.match(told!, /nvmlDeviceGetTemperature has not returned for \d+ s/);
  assert.deepEqual(more, []);
  assert.deepEqual(messages(await run.tick(5)), []);
  await poller.tell("return");
  await poller.publish(run.now_ns);
  assert.deepEqual(messages(await run.tick()), [
    "service-run: the driver's call nvmlDeviceGetTemperature has returned",
  ]);
});

test("a call that only just began does not hide that a device has no values", async () => {
  await using all = await scene();
  const { poller, run } = all;
  await poller.publish(run.now_ns);
  await run.tick(0);
  await poller.tell("call nvmlDeviceGetTemperature");
  await poller.publish(run.now_ns - 4n * SECOND_NS);
  assert.deepEqual(messages(await run.tick(0)), ["service-run: no values any more of GPU-1"]);
});

test("without a driver there is one state with its reason, and nothing else", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/devices`;
  await using poller = await startPoller(path);
  using run = watch(path, poller.pid);
  const series = (window: Window) =>
    [...window.series.values()].filter(({ name }) => name !== "profiler_refused_segments_total");
  assert.deepEqual(series(await run.tick()), [], "its thread may not have looked yet");
  await poller.tell("state 3 no_driver");
  for (let i = 0; i < 2; i++) {
    const window = await run.tick();
    assert.deepEqual(
      series(window).map(({ name, tags }) => ({ name, tags })),
      [{
        name: "profiler_capture_state",
        tags: { capture: "gpu_devices", reason: "no_driver" },
      }],
    );
    assert.equal(gauge(window, "profiler_capture_state"), 0);
    assert.deepEqual(window.errors, []);
    assert.equal(window.resources.size, 0);
  }
});

test("a damaged segment is refused once, and the devices of others are recorded", async () => {
  await using all = await scene();
  const { path, poller, run } = all;
  await using other = await startPoller(path);
  const set = (value: number) => other.set("counter", "gpu_energy_joules", DEVICE, [value]);
  await set(500);
  await other.publish(run.now_ns);
  await run.tick();
  await set(400);
  await other.publish(run.now_ns);
  await poller.set("gauge", "gpu_temperature_celsius", DEVICE, [40]);
  await poller.publish(run.now_ns);
  const window = await run.tick();
  assert.match(messages(window)[0]!, /the segment .* is refused, .*: a value fell/);
  assert.equal(increase(window, "profiler_refused_segments_total"), 1);
  assert.equal(gauge(await run.tick(), "gpu_temperature_celsius"), 40);
});
