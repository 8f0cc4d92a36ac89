/** Devices of the fake driver through whole runs: measured once on a host, reported by every run. */

import assert from "node:assert/strict";
import type { Metric, Signals } from "@service/core";
import { compiler } from "../doubles/cuda/build.ts";
import { runScenario, uuid as cudaUuid } from "../doubles/cuda/harness.ts";
import { driver } from "../doubles/nvml/build.ts";
import { missingCompiler, testUnless } from "../skipping.ts";
import { readLocal, type Run, startRun, until, watcherOf } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

const test = testUnless(missingCompiler(compiler));

/** What each poll of a device calls once. */
const POLL = "nvmlDeviceGetPowerUsage";

/** Uuid of a device of the fake driver. */
function uuid(index: number): string {
  return `GPU-0000000${index}-0000-4000-8000-000000000000`;
}

/** A host with the fake driver. */
interface Host extends AsyncDisposable {
  /** Starts a run, whose state is the host's; the fake driver keeps a log of its calls by this name. */
  run(name: string, env?: Record<string, string>): Run;
  /** Replaces the driver's script. */
  script(lines: string): Promise<void>;
  /** Number of calls that a run has made of a function on a device. */
  calls(name: string, call: string, device: number): Promise<number>;
}

async function startHost(lines: string): Promise<Host> {
  const directory = await temporaryDirectory();
  const stack = new AsyncDisposableStack();
  const at = (name: string) => `${directory.path}/${name}`;
  const library = await driver();
  async function script(lines: string) {
    await Deno.writeTextFile(at("new"), lines);
    await Deno.rename(at("new"), at("script"));
  }
  await script(lines);
  stack.use(directory);
  return {
    script,
    run(name, env) {
      const variables = {
        SERVICE_NVML_LIBRARY: library,
        FAKE_NVML: at("script"),
        FAKE_NVML_LOG: at(`log.${name}`),
      };
      const options = { directory: directory.path, env: { ...variables, ...env } };
      return stack.use(startRun(["sleep", "1000"], options));
    },
    async calls(name, call, device) {
      const log = await Deno.readTextFile(at(`log.${name}`)).catch(() => "");
      return log.split("\n").filter((line) => line === `${call} ${device}`).length;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function find<Type extends Metric["type"]>(
  { metrics }: Signals,
  name: string,
  { type, device }: { type: Type; device?: number },
): Extract<Metric, { type: Type }> | undefined {
  return metrics.find((metric): metric is Extract<Metric, { type: Type }> =>
    metric.name === name && metric.type === type &&
    (device === undefined || metric.tags["device.uuid"] === uuid(device))
  );
}

/** The increase of a device's energy since the run began. */
function joules(payload: Signals, device: number): number | undefined {
  const counter = find(payload, "gpu_energy_joules", { type: "counter", device });
  return counter && Number(counter.stats.total);
}

test("a run reports its devices: values, what they are, and that they are measured", async () => {
  await using host = await startHost("devices 2\nset 0 power 350125\nset 1 utilization 40");
  const run = host.run("only", { CUDA_VISIBLE_DEVICES: uuid(0) });
  const payload = await until(async () => {
    const payload = await readLocal(run);
    return find(payload, "gpu_power_usage_watts", { type: "gauge" }) && payload;
  });
  const { tags, stats } = find(payload, "gpu_power_usage_watts", { type: "gauge" })!;
  assert.equal(tags["device.uuid"], uuid(0));
  assert.equal(stats.value, 350.125);
  assert.equal(
    find(payload, "gpu_utilization_percent", { type: "gauge", device: 0 })?.stats.value,
    0,
    "zero is a value",
  );
  assert.equal(find(payload, "gpu_utilization_percent", { type: "gauge", device: 1 }), undefined);
  const devices = payload.resources.filter(({ kind }) => kind === "device");
  assert.deepEqual(devices.map(({ tags }) => tags), [{ "device.uuid": uuid(0) }]);
  const { attributes } = devices[0]!;
  assert.equal(attributes["device.driver_version"], "570.124.06");
  assert.match(attributes["device.peak_memory_gigabytes_per_second"] ?? "", /^\d+/);
  const state = payload.metrics.find(({ tags }) => tags.capture === "gpu_devices");
  assert.deepEqual(state?.tags, { capture: "gpu_devices" });
  assert(state?.type === "gauge" && state.stats.value === 1);
  assert.deepEqual(payload.errors, []);
});

test("eight runs measure a device once; when the one that polls is killed, another goes on", async () => {
  await using host = await startHost("devices 1");
  const names = Array.from({ length: 8 }, (_, rank) => String(rank));
  const runs = new Map(names.map((name) => [name, host.run(name)]));
  const readings = (runs: Iterable<Run>) =>
    Promise.all(Array.from(runs, async (run) => joules(await readLocal(run), 0)));
  await Promise.all(Array.from(runs.values(), ({ url }) => url));
  await until(async () => (await readings(runs.values())).every((value) => value !== undefined));
  await host.script("devices 1\nset 0 energy 1005000");
  await until(async () => (await readings(runs.values())).every((value) => value === 5));

  const pollers = async () => {
    const calls = await Promise.all(names.map((name) => host.calls(name, POLL, 0)));
    return names.filter((_, i) => calls[i]! > 0);
  };
  const [killed = "", ...further] = await pollers();
  assert.deepEqual(further, [], "one run polls");
  const run = runs.get(killed)!;
  // The profiler first: it would notice the end of the supervisor, and end in order.
  Deno.kill(await watcherOf(run), "SIGKILL");
  const killed_ms = Date.now();
  run.process.kill("SIGKILL");
  runs.delete(killed);
  const [, next, ...more] = await until(async () => {
    const all = await pollers();
    return all.length > 1 && [killed, ...all.filter((name) => name !== killed)];
  });
  const took_ms = Date.now() - killed_ms;
  assert(next !== undefined && more.length === 0, "one other run polls");
  await host.script("devices 1\nset 0 energy 1012500");
  await until(async () => (await readings(runs.values())).every((value) => value === 12.5));
  for (const run of runs.values()) {
    const payload = await readLocal(run);
    const gap = find(payload, "profiler_device_gap_nanoseconds", { type: "counter", device: 0 });
    const gap_ns = Number(gap?.stats.total);
    assert(gap_ns > 0 && gap_ns < 2.5e9, `a gap of ${gap_ns} ns`);
    assert.deepEqual(payload.errors, []);
  }
  assert.deepEqual((await pollers()).sort(), [killed, next].sort());
  assert(took_ms < 2_000, `taken over after ${took_ms} ms`);
});

test("a call that hangs is named, delays nothing, and does not keep the run from its end", async () => {
  await using host = await startHost("devices 1");
  const run = host.run("only");
  await until(async () => joules(await readLocal(run), 0) !== undefined);
  await host.script("devices 1\nhang nvmlDeviceGetTemperature 0 300");
  const payload = await until(async () => {
    const before = Date.now();
    const payload = await readLocal(run);
    assert(Date.now() - before < 1_000, "each read is answered");
    return payload.errors.length > 0 && payload;
  });
  const [error] = payload.errors;
  assert.match(
    error?.message ?? "",
    /nvmlDeviceGetTemperature on GPU-0.* has not returned for \d+ s/,
  );
  const memory = find(payload, "process_memory_usage_bytes", { type: "gauge" })!;
  const age_ns = Number(payload.payload_ns - memory.updated_ns);
  assert(age_ns < 2e9, `other values are ${age_ns} ns old`);
  const began = Date.now();
  run.process.kill("SIGTERM");
  assert.equal((await run.ended).status.signal, "SIGTERM");
  const took_ms = Date.now() - began;
  assert(took_ms < 3_000, `the end took ${took_ms} ms`);
});

test("a device that is lost has no values until it is back, and the others go on", async () => {
  await using host = await startHost("devices 2");
  const run = host.run("only");
  const told = (text: RegExp) =>
    until(async () => {
      const payload = await readLocal(run);
      return payload.errors.some(({ message }) => text.test(message)) && payload;
    });
  await until(async () => joules(await readLocal(run), 1) !== undefined);
  await host.script("devices 2\nset * energy 1007000\nanswer * 0 15");
  const lost = await told(/no values any more of GPU-00000000\S+ \(.*bus\)$/);
  const updated_ns = (device: number) =>
    find(lost, "gpu_temperature_celsius", { type: "gauge", device })!.updated_ns;
  assert(updated_ns(1) > updated_ns(0));
  assert.equal(joules(lost, 1), 7);
  await host.script("devices 2\nset * energy 1007000");
  await told(/values again of GPU-00000000/);
});

test("a fault that the driver reports is in the errors, with its meaning", async () => {
  await using host = await startHost("devices 1");
  const run = host.run("only");
  await until(async () => joules(await readLocal(run), 0) !== undefined);
  await host.script("devices 1\nxid 0 79 3");
  const payload = await until(async () => {
    const payload = await readLocal(run);
    return payload.errors.length > 0 && payload;
  });
  const [error] = payload.errors;
  assert.match(error?.message ?? "", /^XID 79 on GPU-0.* \(3 times\): .*bus/);
  assert.equal(error?.level, "error");
  const counter = find(payload, "gpu_xid_critical_errors", { type: "counter", device: 0 });
  assert.equal(counter?.stats.total, 3);
});

for (const isMig of [false, true]) {
  const form = isMig ? "MIG device" : "device";
  test(`a ${form} has the same uuid in its own metrics and in those of CUDA`, async () => {
    await using directory = await temporaryDirectory();
    const uuids = [0, 1].map((device) => cudaUuid(device, isMig ? "MIG-0f" : "GPU-f0"));
    const key = isMig ? "mig_uuid" : "uuid";
    const script = [
      "devices 2",
      `set * mig ${isMig ? 1 : 0}`,
      ...uuids.map((uuid, device) => `${key} ${device} ${uuid}`),
    ];
    await Deno.writeTextFile(`${directory.path}/script`, script.join("\n"));
    const withUuid = (payload: Signals, names: RegExp) =>
      new Set(
        payload.metrics.filter(({ name }) => names.test(name))
          .flatMap(({ tags }) => tags["device.uuid"] ?? []),
      );
    const measured = (payload: Signals) =>
      withUuid(payload, /^gpu_memory_used_bytes$/).isSupersetOf(new Set(uuids));
    const { payload } = await runScenario("live", {
      env: {
        ...isMig && { FAKE_MIG: "1" },
        SERVICE_NVML_LIBRARY: await driver(),
        FAKE_NVML: `${directory.path}/script`,
      },
      async during({ run, openGate }) {
        await until(async () => measured(await readLocal(run)));
        await openGate();
      },
    });
    const used = withUuid(payload, /^cuda_/);
    assert(used.size > 0);
    assert(used.isSubsetOf(withUuid(payload, /^gpu_memory_used_bytes$/)));
    const resources = payload.resources.filter(({ kind }) => kind === "device");
    assert(used.isSubsetOf(new Set(resources.map(({ tags }) => tags["device.uuid"]))));
  });
}

test("a run without a driver says so in one state, and nothing else of devices", async () => {
  await using directory = await temporaryDirectory();
  await using run = startRun(["sleep", "1000"], {
    directory: directory.path,
    env: { SERVICE_NVML_LIBRARY: `${directory.path}/none.so` },
  });
  const payload = await until(async () => {
    const payload = await readLocal(run);
    return payload.metrics.some(({ tags }) => tags.capture === "gpu_devices") && payload;
  });
  const of = payload.metrics.filter(({ tags }) => tags.capture === "gpu_devices");
  assert.equal(of.length, 1);
  assert.match(of[0]!.tags.reason ?? "", /driver/);
  assert(of[0]!.type === "gauge" && of[0]!.stats.value === 0);
  assert(!payload.metrics.some(({ tags }) => tags["device.bus_id"]));
  assert.deepEqual(payload.errors, []);
});
