/** Uploads of runs to the hosted API, with outages and wrong keys. */

import assert from "node:assert/strict";
import {
  decode,
  instanceList,
  type Metric,
  type Quantity,
  type Signals,
  signals,
} from "@service/core";
import { SECOND_NS, secondsFromNs, tsFromNs } from "@service/core/time";
import { temporaryDirectory } from "../temporary_directory.ts";
import {
  type Hosted,
  readLocal,
  startHosted,
  startRun,
  until,
  uploadTo,
  watcherOf,
} from "../stack.ts";

const WORKLOAD = new URL("../../examples/workload.py", import.meta.url).pathname;

/** Exactness of the profiler's clock, whose unit is a millisecond. */
const CLOCK_MS = 2;

/** The only instance of `hosted`, as soon as there is one. */
async function onlyInstance(hosted: Hosted): Promise<string> {
  return await until(async () => {
    const { instances } = await hosted.get("/api/v1/instances", instanceList);
    assert(instances.length <= 1, "one run is one instance");
    return instances[0]?.instance_id;
  });
}

async function readHosted(hosted: Hosted, id: string, start: string, end = ""): Promise<Signals> {
  const query = new URLSearchParams({ instance_id: id, start, ...(end && { end }) });
  return await hosted.get(`/api/v1/signals?${query}`, signals);
}

/** Cumulative values of a payload, by series and in a profile by frame. */
function totals({ metrics }: Signals): Map<string, Quantity> {
  const found = new Map<string, Quantity>();
  for (const { name, tags, type, stats } of metrics as (Metric & { stats: object })[]) {
    const key = `${name} ${JSON.stringify(Object.entries(tags).sort())}`;
    if (type === "counter") found.set(key, stats.total);
    if (type === "histogram") found.set(`${key} count`, stats.count).set(`${key} sum`, stats.sum);
    if (type === "profile") {
      for (const frame of stats.frames) found.set(`${key} ${frame.name}`, frame.value);
    }
  }
  return found;
}

async function lastLocal(directory: string, id: string): Promise<Signals> {
  return signals.check(decode(await Deno.readTextFile(`${directory}/service/${id}.json`)));
}

Deno.test("a run is read back exactly, in one span and in windows, after a kill of the service", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  const go = `${directory.path}/go`;
  await using run = startRun(["bash", "-c", `python3 ${WORKLOAD}; ${untilThere(go)}`], {
    directory: directory.path,
    env: uploadTo(hosted),
  });
  const id = await onlyInstance(hosted);
  const spool = `${directory.path}/service/spool/${id}`;
  await hosted.kill();
  await until(() => firstSpooled(spool));
  await hosted.restart();

  const parts: Signals[] = [];
  let start = "0";
  const follow = async () => {
    const part = await readHosted(hosted, id, start);
    if (part.payload_ns > part.start_ns) parts.push(part);
    start = secondsFromNs(part.payload_ns);
  };
  const { instances: [instance] } = await hosted.get("/api/v1/instances", instanceList);
  start = String(instance!.first_seen_ts);
  // Windows that waited for the service may arrive together.
  await until(async () => {
    await follow();
    return parts.length >= 2;
  });
  await Deno.writeTextFile(go, "");
  const { status, stderr } = await run.ended;
  assert.equal(status.code, 0, stderr);
  await follow();

  const complete = await readHosted(hosted, id, String(instance!.first_seen_ts));
  const expected = totals(complete);
  const sums = new Map<string, Quantity>();
  for (const part of parts) {
    for (const [key, value] of totals(part)) {
      sums.set(key, Number(sums.get(key) ?? 0) + Number(value));
    }
  }
  assert(expected.size > 50);
  // Decimals of a second are no doubles: what a reader adds up is exact to the nanosecond.
  const toNanoseconds = ([key, value]: [string, Quantity]): [string, Quantity] =>
    /_cpu_seconds/.test(key) ? [key, Math.round(Number(value) * 1e9) / 1e9] : [key, value];
  assert.deepEqual(
    new Map([...sums].map(toNanoseconds).sort()),
    new Map([...expected].map(toNanoseconds).sort()),
  );

  const local = totals(await lastLocal(directory.path, id));
  assert.deepEqual(new Map([...local].sort()), new Map([...expected].sort()));
  assert(await isGone(spool), "nothing waits any more");
});

/** Shell script that exits as soon as a file exists. */
function untilThere(file: string): string {
  return `until [ -e ${file} ]; do sleep 0.1; done`;
}

async function files(path: string): Promise<string[]> {
  return await Array.fromAsync(Deno.readDir(path), ({ name }) => name).catch(() => []);
}

/** Name of a pending window in a spool, if there is one. */
async function firstSpooled(spool: string): Promise<string | undefined> {
  return (await files(spool)).find((name) => name.endsWith(".window"));
}

async function isGone(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => false, (error) => error instanceof Deno.errors.NotFound);
}

Deno.test("a run covers its real time, also where it is read an hour later", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  const command = ["python3", "-c", "import time; time.sleep(2); print(time.time_ns())"];
  await using run = startRun(command, { directory: directory.path, env: uploadTo(hosted) });
  const { status, stdout } = await run.ended;
  const seen_ms = Date.now();
  assert.equal(status.code, 0);
  const id = await onlyInstance(hosted);
  const local = await lastLocal(directory.path, id);
  const ended_ms = Number(stdout) / 1e6;
  const covered_ns = totals(local).get("profiler_covered_nanoseconds []")!;
  const covered_to_ms = Number(local.start_ns + BigInt(covered_ns)) / 1e6;
  assert(
    covered_to_ms >= ended_ms - CLOCK_MS && covered_to_ms <= seen_ms + CLOCK_MS,
    `covers the time to ${covered_to_ms}: the command ended between ${ended_ms} and ${seen_ms}`,
  );

  const start_ts = tsFromNs(local.start_ns);
  for (const end of ["", String(start_ts + 3_600)]) {
    const read = await readHosted(hosted, id, String(start_ts), end);
    assert.equal(totals(read).get("profiler_covered_nanoseconds []"), covered_ns);
    if (end) assert.equal(read.payload_ns - read.start_ns, 3_600n * SECOND_NS);
  }
});

Deno.test("windows of a killed profiler are sent by the next run with the same key", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  await hosted.kill();
  const env = uploadTo(hosted);
  await using killed = startRun(["sleep", "1000"], { directory: directory.path, env });
  const { context } = await readLocal(killed);
  const spool = `${directory.path}/service/spool/${context["instance.id"]}`;
  const left = await until(() => firstSpooled(spool));
  Deno.kill(await watcherOf(killed), "SIGKILL");
  Deno.kill(Number(context["process.pid"]), "SIGKILL");
  await killed.ended;
  await hosted.restart();

  await using other = startRun(["true"], {
    directory: directory.path,
    env: { ...env, SERVICE_API_KEY: "svc_00000000_another" },
  });
  assert.match((await other.ended).stderr, /refuses the key/);
  await using next = startRun(["sleep", "1000"], { directory: directory.path, env });
  await until(async () => await firstSpooled(spool) === undefined);
  next.process.kill("SIGTERM");
  await next.ended;
  assert(await isGone(spool));

  const [from, to] = left.split(".")[0]!.split("-").map(BigInt);
  const [start, end] = [secondsFromNs(from!), secondsFromNs(to!)];
  const payload = await readHosted(hosted, context["instance.id"]!, start, end);
  assert.equal(payload.payload_ns, to);
  assert(payload.metrics.length > 20);
  const whole = await readHosted(hosted, context["instance.id"]!, start);
  assert(whole.payload_ns > to!, "the run has ended: a read goes on to its own end");
  assert(whole.errors.some(({ message }) => /The end of the run is lost/.test(message)));
});

Deno.test("a wrong key is reported once, on stderr and in errors, and the workload continues", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  const go = `${directory.path}/go`;
  await using run = startRun(["bash", "-c", untilThere(go)], {
    directory: directory.path,
    env: { ...uploadTo(hosted), SERVICE_API_KEY: "svc_00000000_wrong" },
  });
  await until(async () => (await readLocal(run)).errors.length > 0);
  // The last window is not sent.
  await Deno.writeTextFile(go, "");
  const { status, stderr } = await run.ended;
  assert.equal(status.code, 0);
  assert.equal(stderr.match(/refuses the key/g)?.length, 1);
  const [file] = (await files(`${directory.path}/service`)).filter((name) =>
    name.endsWith(".json")
  );
  const { errors } = await lastLocal(directory.path, file!.replace(".json", ""));
  assert.equal(errors.filter(({ message }) => /refuses the key/.test(message)).length, 1);
});

Deno.test("the exit does not wait for a service that never answers, and the window stays on disk", async () => {
  await using directory = await temporaryDirectory();
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = silent.addr as Deno.NetAddr;
  await using run = startRun(["true"], {
    directory: directory.path,
    env: { SERVICE_API_BASE: `http://127.0.0.1:${port}`, SERVICE_API_KEY: "svc_00000000_any" },
  });
  assert.equal((await run.ended).status.code, 0);
  const spools = `${directory.path}/service/spool`;
  const [spool] = await files(spools);
  assert(await firstSpooled(`${spools}/${spool}`));
  silent.close();
});
