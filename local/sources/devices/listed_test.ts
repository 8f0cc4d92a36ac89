/** Which devices are recorded, and how each is described. */

import assert from "node:assert/strict";
import type { Window } from "@service/core";
import { temporaryDirectory } from "../../../tests/temporary_directory.ts";
import {
  DEVICE,
  find,
  gauge,
  messages,
  OTHER,
  scene,
  startPoller,
  test,
  watch,
} from "./testdata/pollers.ts";

test("the parent of a MIG device is marked: the workload does not use it as a whole", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/devices`;
  await using poller = await startPoller(path);
  const part = { ...OTHER, "device.uuid": "MIG-1" };
  await poller.list(DEVICE, { ...part, "device.parent_uuid": "GPU-1" });
  for (const device of [DEVICE, part]) await poller.set("gauge", "device", device, [1]);
  using run = watch(path, poller.pid, { CUDA_VISIBLE_DEVICES: "MIG-1" });
  await poller.publish(run.now_ns, DEVICE);
  await poller.publish(run.now_ns, part);
  const uses = (await run.tick()).resources.values().map(({ tags, attributes }) =>
    [tags["device.uuid"], attributes["device.use"]] as const
  );
  assert.deepEqual(new Map(uses), new Map([["GPU-1", "mig_parent"], ["MIG-1", undefined]]));
});

test("what the run's own poller does not list is not recorded, whoever polls it", async () => {
  await using all = await scene();
  const { path, poller, run } = all;
  await using other = await startPoller(path);
  await other.list(DEVICE, OTHER);
  await other.set("gauge", "gpu_utilization_percent", DEVICE, [40]);
  await other.set("gauge", "gpu_utilization_percent", OTHER, [50]);
  await other.publish(run.now_ns);
  await other.publish(run.now_ns, OTHER);
  assert.equal(gauge(await run.tick(), "gpu_utilization_percent"), 40);
  await poller.list(OTHER);
  await poller.set("gauge", "listed", DEVICE, [1, 0]);
  await poller.tell("publish");
  const window = await run.tick();
  assert.deepEqual(find(window, "gpu_utilization_percent", "gauge").map(({ tags }) => tags), [
    OTHER,
  ]);
});

test("a device is a resource with its attributes, its peaks, and the metrics that it refuses", async () => {
  await using all = await scene();
  const { poller, run } = all;
  const attributes = {
    "device.index": "0",
    "device.memory_bus_width_bits": "5120",
    "device.memory_clock_megahertz": "2619",
  };
  await poller.set("gauge", "device", { ...DEVICE, "device.power_limit_watts": "650" }, [1, 0]);
  await poller.set("gauge", "device", { ...DEVICE, ...attributes }, [1]);
  const refusal = (metric: string, reason: string) => ({ ...DEVICE, metric, reason });
  await poller.set("gauge", "unsupported", refusal("gpu_fan_speed_percent", "refused"), [1]);
  await poller.set("gauge", "unsupported", refusal("gpu_energy_joules", "late"), [1, 0]);
  await poller.publish(run.now_ns);
  const window = await run.tick();
  const [resource] = window.resources.values();
  assert.equal(resource?.kind, "device");
  assert.deepEqual(resource?.tags, { "device.uuid": "GPU-1" });
  assert.deepEqual(resource?.attributes, {
    ...attributes,
    "device.bus_id": "00000000:0D:00.0",
    "device.mps_mode": "disabled",
    "device.peak_memory_gigabytes_per_second": "3352.3",
    "profiler.unsupported_metrics": "gpu_fan_speed_percent: refused",
  });
  assert.equal(gauge(window, "profiler_unsupported_metrics"), 1);
});

test("a resource says whether processes share the device through MPS", async () => {
  await using all = await scene();
  const { mps, poller, run } = all;
  await poller.set("gauge", "device", { ...DEVICE, "device.index": "0" }, [1]);
  const mode = async () => {
    await poller.publish(run.now_ns);
    const [resource] = (await run.tick()).resources.values();
    return resource?.attributes["device.mps_mode"];
  };
  assert.equal(await mode(), "disabled");
  await Deno.mkdir(mps);
  await Deno.writeTextFile(`${mps}/control`, "");
  assert.equal(await mode(), "enabled");
});

test("devices that the environment hides are not recorded, and why is told", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/a/devices`;
  await using poller = await startPoller(path);
  const models = [{ ...DEVICE, "device.name": "H100" }, { ...OTHER, "device.name": "H100" }];
  await poller.list(...models);
  using all = watch(path, poller.pid);
  using some = watch(path, poller.pid, { CUDA_VISIBLE_DEVICES: "1" });
  using none = watch(path, poller.pid, { CUDA_VISIBLE_DEVICES: "" });
  using unclear = watch(path, poller.pid, { CUDA_VISIBLE_DEVICES: "1" });
  for (const device of [DEVICE, OTHER]) {
    await poller.set("gauge", "gpu_utilization_percent", device, [1]);
    await poller.publish(all.now_ns, device);
  }
  const seen = (window: Window) =>
    find(window, "gpu_utilization_percent", "gauge").map(({ tags }) => tags["device.uuid"]);
  assert.deepEqual(seen(await all.tick()), ["GPU-1", "GPU-2"]);
  assert.deepEqual(seen(await some.tick()), ["GPU-2"]);
  const hidden = await none.tick();
  assert.deepEqual(seen(hidden), []);
  const [state] = find(hidden, "profiler_capture_state", "gauge");
  assert.match(state?.tags.reason ?? "", /hides all devices/);
  assert.deepEqual(messages(hidden), []);

  await poller.set("gauge", "listed", models[1]!, [1, 0]);
  await poller.list({ ...OTHER, "device.name": "T4" });
  const window = await unclear.tick();
  assert.deepEqual(seen(window), ["GPU-1", "GPU-2"]);
  assert.match(messages(window)[0]!, /not of one model/);
  assert.deepEqual(messages(await unclear.tick()), [], "once");
  await poller.tell("state 1 only_some");
  for (const device of [DEVICE, OTHER]) await poller.publish(unclear.now_ns, device);
  assert.deepEqual(messages(await unclear.tick()), ["service-run: only_some"]);
  assert.deepEqual(messages(await unclear.tick()), [], "once");
});
