/** The upload of a run sends its own windows, and those of crashed runs with the same destination. */

import assert from "node:assert/strict";
import { readFrames, windowHead } from "@service/core/packed";
import { Recorder } from "../sources/recorder.ts";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { Destination } from "./destination.ts";
import { Spool } from "./spool.ts";
import { Uploader } from "./spools.ts";
import { INSTANCE, packed } from "./testdata/upload.ts";

const KEY = "secret";

const given = (key: string) => () => Promise.resolve(key);

/** A service that counts windows, all in one project. */
function counting() {
  const service = { windows: 0, final: 0 };
  const refusals: Response[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const refusal = refusals.shift();
      if (refusal) return refusal;
      const { body, headers } = request;
      const isCompressed = headers.get("content-encoding") === "gzip";
      const plain = isCompressed ? body!.pipeThrough(new DecompressionStream("gzip")) : body!;
      const frames = [...readFrames(await new Response(plain).bytes())];
      const windows = frames.filter(({ kind }) => kind === "window").map(windowHead);
      service.windows += windows.length;
      service.final += windows.filter(({ final }) => final).length;
      return Response.json({ stored: true, project: "p1" });
    },
  );
  return {
    service,
    refusals,
    base: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function pendingOf(uploader: Uploader): unknown {
  const recorder = new Recorder(0n, () => 1n);
  uploader.sample(recorder);
  const series = [...recorder.cut(1n).series.values()];
  const pending = series.find(({ name }) => name === "profiler_upload_pending_windows");
  return pending?.type === "gauge" && pending.value;
}

Deno.test("windows that come before the spool is open wait, and all are sent by the end", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = counting();
  const spools = `${directory.path}/spool`;
  const uploader = new Uploader({
    ...{ base: hosted.base, key: given(KEY), spools, instance: INSTANCE },
    warn: assert.fail,
  });
  const first = await packed(0, 1);
  const adding = uploader.add(first);
  assert.equal(pendingOf(uploader), 1);
  await adding;
  await uploader.add(await packed(1, 2));
  await uploader.finish(10_000);
  assert.equal(hosted.service.windows, 2);
  assert.equal(pendingOf(uploader), 0);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(spools)), []);
});

/** Leaves a spool as a crashed run does: `stored` of its windows were accepted, and two were not. */
async function crash(directory: string, base: string, { key = KEY, stored = 0 } = {}) {
  const spool = await Spool.open(directory, { warn: assert.fail });
  for (let i = 0; i < stored + 2; i++) await spool.add(await packed(i, i + 1));
  const destination = Destination.of(directory, base);
  await destination.mayUse(key);
  for (let i = 0; i < stored; i++) await spool.acknowledge((await spool.next())!);
  if (stored > 0) await destination.accepted(key, "p1");
}

async function isGone(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => false, () => true);
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!await isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("what a crashed run left is sent with the same key at once, and its run is ended", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = counting();
  const spools = `${directory.path}/spool`;
  await crash(`${spools}/00000000000a`, hosted.base);
  const options = { base: hosted.base, spools, instance: INSTANCE, warn: assert.fail };
  const next = new Uploader({ ...options, key: given(KEY) });
  await until(() => isGone(`${spools}/00000000000a`));
  assert.deepEqual(hosted.service, { windows: 3, final: 1 });
  await next.finish(10_000);
});

Deno.test("what a crashed run left is sent after a refusal too", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = counting();
  const spools = `${directory.path}/spool`;
  const crashed = `${spools}/00000000000a`;
  await crash(crashed, hosted.base, { stored: 1 });
  const no = () => new Response("no", { status: 401 });
  hosted.refusals.push(no(), no(), no());
  const warnings: string[] = [];
  const next = new Uploader({
    ...{ base: hosted.base, key: given(KEY), spools, instance: INSTANCE },
    warn: (message) => warnings.push(message),
    refusedPause_ms: 0,
  });
  // What was left is refused first, then the window of this run.
  await until(() => hosted.refusals.length === 2);
  await next.add(await packed(0, 1));
  await until(() => isGone(crashed));
  await next.finish(10_000);
  assert.deepEqual(hosted.service, { windows: 1 + 2 + 1, final: 1 });
  assert.equal(warnings.length, 2);
});

Deno.test("with another key only what the same project has accepted before is sent", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = counting();
  const spools = `${directory.path}/spool`;
  await crash(`${spools}/00000000000a`, hosted.base);
  await crash(`${spools}/00000000000b`, hosted.base, { stored: 1 });
  await crash(`${spools}/00000000000c`, "http://127.0.0.1:1", { stored: 1 });
  const options = { base: `${hosted.base}/`, spools, instance: INSTANCE, warn: assert.fail };
  const next = new Uploader({ ...options, key: given("rotated") });
  await next.add(await packed(0, 1));
  await until(() => isGone(`${spools}/00000000000b`));
  assert.deepEqual(hosted.service, { windows: 1 + 2 + 1, final: 1 });
  await next.finish(10_000);
  for (const left of ["a", "c"]) assert(!await isGone(`${spools}/00000000000${left}`));
});

Deno.test("a run that was killed between its uploads is ended by the next one", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = counting();
  const spools = `${directory.path}/spool`;
  const killed = `${spools}/00000000000a`;
  await crash(killed, hosted.base, { stored: 1 });
  for await (const { name } of Deno.readDir(killed)) {
    if (/(new|sent)\.window$/.test(name)) await Deno.remove(`${killed}/${name}`);
  }
  const options = { base: hosted.base, spools, instance: INSTANCE, warn: assert.fail };
  const next = new Uploader({ ...options, key: given(KEY) });
  await until(() => isGone(killed));
  assert.deepEqual(hosted.service, { windows: 1, final: 1 });
  await next.finish(10_000);
});
