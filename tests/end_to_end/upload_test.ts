import assert from "node:assert/strict";
import {
  decode,
  instanceList,
  type Metric,
  type Quantity,
  type Signals,
  signals,
} from "@service/core";
import { secondsFromNs } from "@service/core/time";
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

/** The only instance that `hosted` knows, once it knows one. */
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

/** What accumulates in a payload, by series and, in a profile, by frame. */
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

Deno.test("a run is read back whole, and in windows that tile, though the service was killed meanwhile", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  await using run = startRun(["python3", WORKLOAD], {
    directory: directory.path,
    env: { ...uploadTo(hosted), WORKLOAD_SECONDS: "24" },
  });
  const id = await onlyInstance(hosted);
  await hosted.kill();
  await new Promise((resolve) => setTimeout(resolve, 5_000));
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
  let over = false;
  run.ended.then(() => over = true);
  while (!over) {
    await follow();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  const { status, stderr } = await run.ended;
  assert.equal(status.code, 0, stderr);
  await follow();

  const whole = await readHosted(hosted, id, String(instance!.first_seen_ts));
  const expected = totals(whole);
  const sums = new Map<string, Quantity>();
  for (const part of parts) {
    for (const [key, value] of totals(part)) {
      sums.set(key, Number(sums.get(key) ?? 0) + Number(value));
    }
  }
  // What waited for the service may come at once.
  assert(parts.length >= 2, `there were windows to add up: ${parts.length}`);
  assert(expected.size > 50);
  assert.deepEqual(new Map([...sums].sort()), new Map([...expected].sort()));

  const local = totals(await lastLocal(directory.path, id));
  assert.deepEqual(new Map([...local].sort()), new Map([...expected].sort()));
  assert(await isGone(`${directory.path}/service/spool/${id}`), "nothing waits any more");
});

async function files(path: string): Promise<string[]> {
  return await Array.fromAsync(Deno.readDir(path), ({ name }) => name).catch(() => []);
}

async function isGone(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => false, (error) => error instanceof Deno.errors.NotFound);
}

Deno.test("what a killed profiler left is sent by the next run with the same key", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  await hosted.kill();
  const env = uploadTo(hosted);
  await using killed = startRun(["sleep", "60"], { directory: directory.path, env });
  await killed.url;
  const spools = `${directory.path}/service/spool`;
  const { context } = await readLocal(killed);
  const left = await until(async () => {
    const names = await files(`${spools}/${context["instance.id"]}`);
    return names.find((name) => name.endsWith(".json.gz"));
  });
  Deno.kill(await watcherOf(killed), "SIGKILL");
  Deno.kill(Number(context["process.pid"]), "SIGKILL");
  await killed.ended;
  await hosted.restart();

  await using stranger = startRun(["true"], {
    directory: directory.path,
    env: { ...env, SERVICE_API_KEY: "svc_00000000_another" },
  });
  assert.match((await stranger.ended).stderr, /refuses the key/);
  await using heir = startRun(["sleep", "2"], { directory: directory.path, env });
  await heir.ended;

  const [from, to] = left.split(".")[0]!.split("-").map(BigInt);
  const payload = await readHosted(hosted, context["instance.id"]!, secondsFromNs(from!));
  assert.equal(payload.payload_ns, to);
  assert(payload.metrics.length > 20);
  assert(await isGone(`${spools}/${context["instance.id"]}`));
});

Deno.test("a wrong key is said once, on stderr and in errors, and the workload runs on", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  await using run = startRun(["sleep", "12"], {
    directory: directory.path,
    env: { ...uploadTo(hosted), SERVICE_API_KEY: "svc_00000000_wrong" },
  });
  const { status, stderr } = await run.ended;
  assert.equal(status.code, 0);
  assert.equal(stderr.match(/refuses the key/g)?.length, 1);
  const [file] = (await files(`${directory.path}/service`)).filter((name) =>
    name.endsWith(".json")
  );
  const { errors } = await lastLocal(directory.path, file!.replace(".json", ""));
  assert.equal(errors.filter(({ message }) => /refuses the key/.test(message)).length, 1);
});

Deno.test("without a service the end waits at most three seconds for the upload", async () => {
  await using directory = await temporaryDirectory();
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = silent.addr as Deno.NetAddr;
  await using run = startRun(["true"], {
    directory: directory.path,
    env: { SERVICE_API_BASE: `http://127.0.0.1:${port}`, SERVICE_API_KEY: "svc_00000000_any" },
  });
  const start_ms = performance.now();
  assert.equal((await run.ended).status.code, 0);
  assert(performance.now() - start_ms < 10_000);
  silent.close();
});
