/** The sender delivers in order to a service that misbehaves. */

import assert from "node:assert/strict";
import { decode, type Upload } from "@service/core";
import { uploadShape } from "@service/core/upload_schema";
import { gunzip } from "../base/gzip.ts";
import { Recorder } from "../sources/recorder.ts";
import { Spool } from "./spool.ts";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { upload } from "./testdata/upload.ts";
import { Sender } from "./sender.ts";

/** Fake service with a given answer for each request; it keeps the accepted windows. */
function misbehaving(answers: (Response | "break off")[]) {
  const taken: Upload[] = [];
  const requests: { at_ms: number; headers: Headers }[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      requests.push({ at_ms: performance.now(), headers: request.headers });
      const body = await request.bytes();
      const answer = answers.shift();
      if (answer === "break off") {
        return new Response(new ReadableStream({ pull: (answer) => answer.error("as told") }));
      }
      if (answer) return answer;
      taken.push(uploadShape.check(decode(await gunzip(body))));
      return Response.json({});
    },
  );
  return {
    base: `http://127.0.0.1:${server.addr.port}`,
    taken,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function senderTo(base: string, directory: string) {
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  const spool = await Spool.open(directory, { warn });
  const sender = new Sender({ base, key: "secret", spool, warn, random: () => 0 });
  return { sender, spool, warnings };
}

/** What the sender publishes of itself, by metric. */
function published(sender: Sender): Record<string, unknown> {
  const recorder = new Recorder(0n, () => 1n);
  sender.sample(recorder);
  return Object.fromEntries(
    Array.from(recorder.cut(1n).series.values(), (series) => [
      series.name,
      "value" in series ? series.value : "total" in series ? series.total : undefined,
    ]),
  );
}

const spans = (taken: Upload[]) => taken.map(({ window }) => Number(window.to_ns / 1_000_000_000n));

Deno.test("windows arrive in order with key, type and encoding, and the spool ends empty", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([]);
  const { sender, warnings } = await senderTo(`${service.base}/`, `${directory.path}/spool`);
  for (let i = 0; i < 5; i++) await sender.add(upload(i, i + 1, 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 2, 3, 4, 5]);
  const { headers } = service.requests[0]!;
  assert.equal(headers.get("x-api-key"), "secret");
  assert.equal(headers.get("content-type"), "application/json");
  assert.equal(headers.get("content-encoding"), "gzip");
  assert.deepEqual(warnings, []);
  await assert.rejects(Deno.stat(`${directory.path}/spool`), Deno.errors.NotFound);
});

Deno.test("a service that fails, breaks off or redirects gets the window again, with one warning", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([
    new Response("down", { status: 503 }),
    "break off",
    new Response(null, { status: 307, headers: { location: "http://127.0.0.1:1/" } }),
    new Response("slow", { status: 408 }),
  ]);
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`);
  await sender.add(upload(0, 1, 1));
  await sender.add(upload(1, 2, 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 2]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /503 down/);
  assert.equal(published(sender).profiler_upload_failures_total, 4);
  assert.equal(published(sender).profiler_upload_failures_total, 0, "an increase is told once");
});

Deno.test("Retry-After is honoured", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([
    new Response(null, { status: 429, headers: { "retry-after": "1" } }),
  ]);
  const { sender, spool } = await senderTo(service.base, `${directory.path}/spool`);
  await sender.add(upload(0, 1, 1));
  while (spool.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  const [first, second] = service.requests;
  assert(second!.at_ms - first!.at_ms >= 990);
  await sender.finish(0);
});

for (const status of [401, 403]) {
  Deno.test(`${status} stops the upload, and it is said once`, async () => {
    await using directory = await temporaryDirectory();
    await using service = misbehaving([new Response("no", { status })]);
    const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`);
    await sender.add(upload(0, 1, 1));
    await sender.finish(10_000);
    await sender.add(upload(1, 2, 1));
    await sender.finish(10_000);
    assert.equal(service.requests.length, 1);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, new RegExp(`refuses the key: ${status} no`));
  });
}

Deno.test("a rejected window is kept in a file, and a placeholder with the reason is uploaded for its span", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([new Response("bad path", { status: 400 })]);
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`);
  await sender.add(upload(0, 1, 7));
  await sender.add(upload(1, 2, 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 2]);
  const [placeholder] = service.taken;
  assert.equal(placeholder!.window.series.size, 0);
  assert.match(placeholder!.window.errors[0]!.message, /totals lack it/);
  assert.match(placeholder!.window.errors[0]!.exception, /400 bad path/);
  assert.equal(warnings.length, 1);
  assert.equal(published(sender).profiler_upload_rejected_windows_total, 1);
});

Deno.test("a window for a span that the service already has is only kept in a file", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([new Response("overlaps", { status: 409 })]);
  const { sender } = await senderTo(service.base, `${directory.path}/spool`);
  await sender.add(upload(0, 1, 7));
  await sender.add(upload(1, 2, 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [2]);
});

Deno.test("the end does not wait for a service that never answers, and the window stays on disk", async () => {
  await using directory = await temporaryDirectory();
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { sender, spool } = await senderTo(
    `http://127.0.0.1:${(silent.addr as Deno.NetAddr).port}`,
    `${directory.path}/spool`,
  );
  await sender.add(upload(0, 1, 1));
  await sender.finish(100);
  assert.equal(spool.size, 1);
  assert.equal(published(sender).profiler_upload_pending_windows, 1);
  assert.equal((await Spool.open(`${directory.path}/spool`, { warn: assert.fail })).size, 1);
  silent.close();
});
