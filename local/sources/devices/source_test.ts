/** Devices from the segments of several pollers: each measured once, by whichever run polls it. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { binIndex, type Series, type Tags, type Window } from "@service/core";
import { rounded } from "@service/core/sum";
import { missingCompiler, testUnless } from "../../../tests/skipping.ts";
import { buildWriter, startWriter } from "../../../tests/segment/writer.ts";
import { temporaryDirectory } from "../../../tests/temporary_directory.ts";
import { createProcFiles } from "../../base/proc_files.ts";
import { parseStat } from "../../base/proc_text.ts";
import { Recorder } from "../recorder.ts";
import { createDeviceSource } from "./source.ts";

const built = await Deno.makeTempDir({ prefix: "service-test-" });
addEventListener("unload", () => Deno.removeSync(built, { recursive: true }));
const program = await buildWriter(built) ?? "";
const test = testUnless(missingCompiler(program));

const SECOND_NS = 1_000_000_000n;
const DEVICE = { "device.uuid": "GPU-1", "device.bus_id": "00000000:0D:00.0" };
const OTHER = { "device.uuid": "GPU-2", "device.bus_id": "00000000:1F:00.0" };

const TYPES = { gauge: 0, counter: 1 };

/** A process that writes a segment as a poller does. */
async function startPoller(directory: string) {
  const writer = await startWriter(program, directory);
  const cells = new Map<string, number>();
  return {
    pid: writer.pid,
    kill: writer.kill,
    tell: writer.tell,
    /** Sets a series to a / b. */
    async set(type: keyof typeof TYPES, name: string, tags: Tags, [a, b = 1]: (number | bigint)[]) {
      const words = Object.entries(tags).flat();
      const key = [name, TYPES[type], ...words].join(" ");
      const cell = cells.get(key) ??
        await writer.tell(`cell ${await writer.tell(`series ${key}`)} 0`);
      cells.set(key, cell);
      await writer.tell(`set ${cell} ${a} ${b}`);
    },
    /** Publishes a poll of a device that ended at `polled_ns`. */
    async publish(polled_ns: bigint, device: Tags = DEVICE) {
      await this.set("gauge", "polled", device, [polled_ns]);
      await writer.tell("publish");
    },
    async list(...devices: Tags[]) {
      for (const device of devices) await this.set("gauge", "listed", device, [1]);
      await writer.tell("state 1");
      await writer.tell("publish");
    },
    [Symbol.asyncDispose]: () => writer[Symbol.asyncDispose](),
  };
}

/** A run whose own poller is the process `pid`; its clock stands until it is set. */
function watch(directory: string, pid: number, env: Record<string, string> = {}) {
  const { start_ticks } = parseStat(createProcFiles().text(`${pid}/stat`)!)!;
  const own = { pid, start_ticks: BigInt(start_ticks) };
  let now_ns = BigInt(Date.now()) * 1_000_000n;
  const source = createDeviceSource({ directories: [directory], own, start_ns: now_ns, env });
  const recorder = new Recorder(0n, () => now_ns);
  return {
    get now_ns() {
      return now_ns;
    },
    async tick(seconds = 1): Promise<Window> {
      now_ns += BigInt(seconds) * SECOND_NS;
      await source.sample(recorder);
      return recorder.cut(now_ns);
    },
    [Symbol.dispose]: () => source[Symbol.dispose](),
  };
}

/** A directory, a poller that lists {@linkcode DEVICE}, and the run it belongs to. */
async function scene() {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const path = `${directory.path}/a/devices`;
  const poller = stack.use(await startPoller(path));
  await poller.list(DEVICE);
  const mps = `${directory.path}/mps`;
  const run = stack.use(watch(path, poller.pid, { CUDA_MPS_PIPE_DIRECTORY: mps }));
  const moved = stack.move();
  return { path, mps, poller, run, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

function find<Type extends Series["type"]>(window: Window, name: string, type: Type) {
  return [...window.series.values()].filter((series): series is Extract<Series, { type: Type }> =>
    series.name === name && series.type === type
  );
}

function gauge(window: Window, name: string): number | undefined {
  const [series] = find(window, name, "gauge");
  return series && Number(series.value);
}

function increase(window: Window, name: string): number | undefined {
  const [series] = find(window, name, "counter");
  return series && rounded(series.total);
}

function messages({ errors }: Window): string[] {
  return errors.map(({ message }) => message);
}

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
