/** A key that is revoked while a run uploads, and replaced in its file. */

import assert from "node:assert/strict";
import { decode, instanceList, type Signals, signals } from "@service/core";
import { temporaryDirectory } from "../temporary_directory.ts";
import { admin, checked, createKey, readLocal, startHosted, startRun, until } from "../stack.ts";

/** Totals of the counters that a payload has of the run's own processes. */
function counters({ metrics }: Signals): Map<string, unknown> {
  return new Map(
    metrics.flatMap(({ name, type, tags, stats }) =>
      type === "counter" ? [[`${name} ${JSON.stringify(tags)}`, stats.total]] : []
    ),
  );
}

Deno.test("after a key is revoked and replaced in its file, hosted and local totals are the same", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  const [file, go] = [`${directory.path}/key`, `${directory.path}/go`];
  await Deno.writeTextFile(file, hosted.key);
  await using run = startRun(["bash", "-c", `until [ -e ${go} ]; do sleep 0.1; done`], {
    directory: directory.path,
    env: { SERVICE_API_BASE: hosted.url, SERVICE_API_KEY_FILE: file },
  });
  const { instances: [instance] } = await until(async () => {
    const list = await hosted.get("/api/v1/instances", instanceList);
    return list.instances.length > 0 && list;
  });
  const id = instance!.instance_id;
  await admin(directory.path, "revoke-key", hosted.key.slice(0, "svc_01234567".length));
  const { errors } = await until(async () => {
    const local = await readLocal(run);
    const refused = local.metrics.find(({ name }) => name === "profiler_upload_refused_seconds");
    return refused?.type === "gauge" && Number(refused.stats.value) > 0 && local;
  });
  assert(errors.some(({ message }) => /upload is refused since .*401/.test(message)));

  const key = await createKey(directory.path, "demo");
  await Deno.writeTextFile(file, `${key}\n`);
  await Deno.writeTextFile(go, "");
  const { status, stderr } = await run.ended;
  assert.equal(status.code, 0, stderr);
  assert.match(stderr, /upload is accepted again/);
  const url = `${hosted.url}/api/v1/signals?instance_id=${id}&start=${instance!.first_seen_ts}`;
  const whole = await checked(await fetch(url, { headers: { "x-api-key": key } }), signals);
  const last = await Deno.readTextFile(`${directory.path}/service/${id}.json`);
  const local = counters(signals.check(decode(last)));
  assert(local.size > 10);
  assert.deepEqual(counters(whole), local);
});
