/** The upload of a run sends its own windows, and those of crashed runs with the same destination. */

import assert from "node:assert/strict";
import { readFrames } from "@service/core/packed";
import { Recorder } from "../sources/recorder.ts";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { Spool } from "./spool.ts";
import { Uploader } from "./spools.ts";
import { INSTANCE, packed } from "./testdata/upload.ts";

const KEY = "secret";

/** A service that counts windows. */
function counting() {
  const service = { windows: 0 };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { body, headers } = request;
      const isCompressed = headers.get("content-encoding") === "gzip";
      const plain = isCompressed ? body!.pipeThrough(new DecompressionStream("gzip")) : body!;
      const frames = [...readFrames(await new Response(plain).bytes())];
      service.windows += frames.filter(({ kind }) => kind === "window").length;
      return Response.json({ stored: true });
    },
  );
  return {
    service,
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
    ...{ base: hosted.base, key: KEY, spools, instance: INSTANCE },
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

Deno.test("the spool of a crashed run is sent by the next one to the same destination", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = counting();
  const spools = `${directory.path}/spool`;
  const crashed = `${spools}/00000000000a`;
  const spool = await Spool.open(crashed, { warn: assert.fail });
  for (let i = 0; i < 3; i++) await spool.add(await packed(i, i + 1));
  const digest = new TextEncoder().encode(`${hosted.base}\n${KEY}`);
  const destination = new Uint8Array(await crypto.subtle.digest("SHA-256", digest)).toHex();
  await Deno.writeTextFile(`${crashed}/destination`, destination);

  const options = { base: hosted.base, spools, instance: INSTANCE, warn: assert.fail };
  const other = new Uploader({ ...options, key: "another" });
  await other.finish(10_000);
  assert.equal(hosted.service.windows, 0);
  const next = new Uploader({ ...options, key: KEY });
  while (hosted.service.windows < 3) await new Promise((resolve) => setTimeout(resolve, 1));
  await next.finish(10_000);
  assert.equal(hosted.service.windows, 3);
});
