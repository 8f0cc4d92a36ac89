/** The sender delivers in order to a service that misbehaves. */

import assert from "node:assert/strict";
import { encode } from "@service/core";
import { type Block, PACKED_TYPE, WindowPacker } from "@service/core/packed";
import { Recorder } from "../sources/recorder.ts";
import { Spool } from "./spool.ts";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { INSTANCE, packed, type ReadUpload, readUpload } from "./testdata/upload.ts";
import { Destination } from "./destination.ts";
import { keyInFile } from "./key.ts";
import { Sender, type SenderOptions } from "./sender.ts";

/**
 * Fake service with a given answer for each request, and else as the protocol says: it keeps the
 * accepted windows, and the blocks that it knows until it is told to forget them.
 */
function misbehaving(
  answers: (Response | "break off" | "forget" | undefined)[],
  project?: string,
) {
  const taken: ReadUpload[] = [];
  const known = new Map<string, Block>();
  const requests: { at_ms: number; path: string; headers: Headers; bytes: number }[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = await request.bytes();
      const { headers } = request;
      const path = new URL(request.url).pathname;
      requests.push({ at_ms: performance.now(), path, headers, bytes: body.length });
      const answer = answers.shift();
      if (answer === "break off") {
        return new Response(new ReadableStream({ pull: (answer) => answer.error("as told") }));
      }
      if (answer === "forget") known.clear();
      else if (answer) return answer;
      const plain = headers.get("content-encoding") === "gzip" ? await inflated(body) : body;
      const read = await readUpload(plain, known);
      if (!read) return Response.json({ detail: "send the block too" }, { status: 424 });
      taken.push(read);
      known.set(read.block.hash, read.block);
      const watermark_ns = chainEnd(taken);
      return new Response(encode({ stored: true, project, watermark_ns, block: read.block.hash }));
    },
  );
  return {
    base: `http://127.0.0.1:${server.addr.port}`,
    taken,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** End of the unbroken chain of windows from 0. */
function chainEnd(taken: readonly ReadUpload[]): bigint {
  let end_ns = 0n;
  for (const { window } of taken.toSorted((a, b) => Number(a.from_ns - b.from_ns))) {
    if (window.from_ns === end_ns) end_ns = window.to_ns;
  }
  return end_ns;
}

function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).bytes();
}

async function senderTo(
  base: string,
  directory: string,
  options: Pick<SenderOptions, "refusedPause_ms"> & { key?: SenderOptions["key"] } = {},
) {
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  const spool = await Spool.open(directory, { warn });
  const destination = Destination.of(directory, base);
  const fixed = { spool, destination, warn, random: () => 0 };
  const sender = new Sender({ key: given("secret"), ...fixed, ...options });
  return { sender, spool, warnings };
}

function given(key: string): SenderOptions["key"] {
  return () => Promise.resolve(key);
}

/** Resolves when `isSo`, which a sender makes true. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
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

/** What a placeholder says. */
function lossIn({ window }: ReadUpload): string {
  assert.equal(window.series.size, 0);
  assert.equal(window.errors.length, 1);
  return window.errors[0]!.message;
}

const spans = (taken: ReadUpload[]) =>
  taken.map(({ window }) => Number(window.to_ns / 1_000_000_000n));

Deno.test("windows arrive in order with key, type and encoding, and the spool ends empty", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([]);
  const { sender, warnings } = await senderTo(`${service.base}/`, `${directory.path}/spool`);
  for (let i = 0; i < 5; i++) await sender.add(await packed(i, i + 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 2, 3, 4, 5]);
  const { headers } = service.requests[0]!;
  assert.equal(headers.get("x-api-key"), "secret");
  assert.equal(headers.get("content-type"), PACKED_TYPE);
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
  await sender.add(await packed(0, 1));
  await sender.add(await packed(1, 2));
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
  await sender.add(await packed(0, 1));
  await until(() => spool.size === 0);
  const [first, second] = service.requests;
  assert(second!.at_ms - first!.at_ms >= 990);
  await sender.finish(0);
});

for (const status of [401, 403]) {
  Deno.test(`while ${status} refuses the key windows are kept, and it is tried again: said once`, async () => {
    await using directory = await temporaryDirectory();
    const refused = () => new Response("no", { status });
    await using service = misbehaving([refused(), refused(), refused()]);
    const options = { refusedPause_ms: 0 };
    const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`, options);
    for (let i = 0; i < 3; i++) await sender.add(await packed(i, i + 1));
    await until(() => sender.size === 0);
    assert.deepEqual(spans(service.taken), [1, 2, 3]);
    assert.equal(warnings.length, 2);
    const reason = `refused since \\d+-.*Z, windows are kept .* refuses the key: ${status} no`;
    assert.match(warnings[0]!, new RegExp(reason));
    assert.match(warnings[1]!, /accepted again/);
    assert.equal(published(sender).profiler_upload_failures_total, 0);
    await sender.finish(10_000);
  });
}

Deno.test("a refused key is not sent again before the pause is over, a new one at once", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([new Response("no", { status: 401 })], "p1");
  const file = `${directory.path}/key`;
  await Deno.writeTextFile(file, "old\n");
  const options = { key: keyInFile(file), refusedPause_ms: Infinity };
  const { sender } = await senderTo(service.base, `${directory.path}/spool`, options);
  for (let i = 0; i < 5; i++) await sender.add(await packed(i, i + 1));
  await until(() => Number(published(sender).profiler_upload_refused_seconds) > 0);
  await sender.add(await packed(5, 6));
  await Deno.writeTextFile(file, "\n new \n");
  await sender.add(await packed(6, 7));
  await until(() => sender.size === 0);
  const keys = service.requests.map(({ headers }) => headers.get("x-api-key"));
  assert.deepEqual(keys, ["old", ...Array(7).fill("new")]);
  assert.deepEqual(spans(service.taken), [1, 2, 3, 4, 5, 6, 7]);
  assert.equal(published(sender).profiler_upload_refused_seconds, 0);
  await sender.finish(10_000);
});

Deno.test("at the end a refused key is not sent again, and the windows stay", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([new Response("no", { status: 401 })]);
  const { sender, spool } = await senderTo(service.base, `${directory.path}/spool`);
  for (let i = 0; i < 3; i++) await sender.add(await packed(i, i + 1));
  await sender.finish(10_000);
  assert.equal(service.requests.length, 1);
  assert.equal(spool.size, 3);
});

Deno.test("windows wait for a key file that cannot be read", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([]);
  const file = `${directory.path}/key`;
  const options = { key: keyInFile(file), refusedPause_ms: Infinity };
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`, options);
  await sender.add(await packed(0, 1));
  await until(() => warnings.length === 1);
  assert.match(warnings[0]!, /windows are kept .*: Cannot read the key: .*\/key/);
  await Deno.writeTextFile(file, "good");
  await sender.add(await packed(1, 2));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 2]);
});

Deno.test("once the project is known each window is sent to it, with any key", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([], "p1");
  const keys = ["one", "two", "three"];
  const options = { key: () => Promise.resolve(keys.shift() ?? "four") };
  const { sender } = await senderTo(`${service.base}/`, `${directory.path}/spool`, options);
  for (let i = 0; i < 4; i++) await sender.add(await packed(i, i + 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 2, 3, 4]);
  const paths = service.requests.map(({ path }) => path);
  assert.deepEqual(paths, ["/api/v1/ingest", ...Array(3).fill("/api/v1/ingest/p1")]);
});

Deno.test("a service that names no project gets the windows with the key that it accepted alone", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([]);
  let key = "one";
  const options = { key: () => Promise.resolve(key), refusedPause_ms: Infinity };
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`, options);
  await sender.add(await packed(0, 1));
  await until(() => sender.size === 0);
  key = "two";
  await sender.add(await packed(1, 2));
  await until(() => warnings.length === 1);
  key = "one";
  await sender.add(await packed(2, 3));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 2, 3]);
  const sent = service.requests.map(({ headers }) => headers.get("x-api-key"));
  assert.deepEqual(sent, ["one", "one", "one"]);
  assert.match(warnings[0]!, /does not name the project of a key/);
});

Deno.test("windows wait for a service without the path of their project", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([undefined, new Response("none", { status: 404 })], "p1");
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`);
  for (let i = 0; i < 3; i++) await sender.add(await packed(i, i + 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 2, 3]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /older than this profiler.*404 none/);
});

Deno.test("a rejected window is kept in a file, and a placeholder with the reason is uploaded for its span", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([new Response("bad path", { status: 400 })]);
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`);
  await sender.add(await packed(0, 1, { total: 7 }));
  await sender.add(await packed(1, 2));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 2]);
  const [placeholder] = service.taken;
  assert.equal(placeholder!.window.series.size, 0);
  assert.match(placeholder!.window.errors[0]!.message, /totals lack it/);
  assert.match(placeholder!.window.errors[0]!.exception, /400 bad path/);
  assert.equal(warnings.length, 1);
  assert.equal(published(sender).profiler_upload_rejected_windows_total, 1);
});

Deno.test("what is missing after a 409 is filled with a window that says so", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([undefined, new Response("overlaps", { status: 409 })]);
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`);
  for (let i = 0; i < 4; i++) await sender.add(await packed(i, i + 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 3, 2, 4]);
  assert.match(lossIn(service.taken[2]!), /the 1 s up to here reached the service: totals lack it/);
  assert.equal(warnings.length, 2);
});

for (const [whose, order] of [["its own", [1, 2, 3]], ["another's", [1, 3, 2]]] as const) {
  Deno.test(`a file that is gone of ${whose} spool is filled with a window that says so`, async () => {
    await using directory = await temporaryDirectory();
    const path = `${directory.path}/spool`;
    const warn = () => {};
    const spool = await Spool.open(path, { warn });
    for (let i = 0; i < 3; i++) await spool.add(await packed(i, i + 1));
    for await (const { name } of Deno.readDir(path)) {
      if (name.startsWith("1000")) await Deno.remove(`${path}/${name}`);
    }
    const sent = whose === "its own" ? spool : await Spool.open(path, { warn });
    await using service = misbehaving([]);
    const destination = Destination.of(path, service.base);
    await new Sender({ destination, key: given("secret"), spool: sent, warn }).finish(10_000);
    assert.deepEqual(spans(service.taken), order);
    const filled = service.taken.find(({ window }) => window.to_ns === 2_000_000_000n)!;
    assert.match(lossIn(filled), /^Nothing measured in the 1 s up to here .*: totals lack it$/);
  });
}

Deno.test("a gap that the service has before the first window is filled once", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([]);
  const { sender } = await senderTo(service.base, `${directory.path}/spool`);
  for (let i = 5; i < 8; i++) await sender.add(await packed(i, i + 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [6, 5, 7, 8]);
  assert.equal(service.taken[1]!.from_ns, 0n);
});

Deno.test("a gap that the service does not let be filled is left to it", async () => {
  await using directory = await temporaryDirectory();
  await using service = misbehaving([undefined, new Response("overlaps", { status: 409 })]);
  const { sender } = await senderTo(service.base, `${directory.path}/spool`);
  for (let i = 5; i < 8; i++) await sender.add(await packed(i, i + 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [6, 7, 8]);
});

Deno.test("the end does not wait for a service that never answers, and the window stays on disk", async () => {
  await using directory = await temporaryDirectory();
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { sender, spool } = await senderTo(
    `http://127.0.0.1:${(silent.addr as Deno.NetAddr).port}`,
    `${directory.path}/spool`,
  );
  await sender.add(await packed(0, 1));
  await sender.finish(100);
  assert.equal(spool.size, 1);
  assert.equal(sender.size, 1);
  assert.equal((await Spool.open(`${directory.path}/spool`, { warn: assert.fail })).size, 1);
  silent.close();
});

Deno.test("a block is sent until the service has answered that it knows it, and again if it forgets it", async () => {
  await using directory = await temporaryDirectory();
  const answers: (Response | "forget")[] = [];
  await using service = misbehaving(answers);
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`);
  const gauges = Array.from({ length: 300 }, (_, i) => `gauge_${i}`);
  const packedBy = new WindowPacker(INSTANCE);
  const add = async (at: number) => {
    await sender.add(await packed(at, at + 1, { gauges, packedBy }));
    await until(() => sender.size === 0);
  };
  for (let i = 0; i < 3; i++) await add(i);
  answers.push("forget");
  await add(3);
  await add(4);
  const withBlock = service.taken.map((upload) => upload.withBlock);
  assert.deepEqual(withBlock, [true, false, false, true, false]);
  assert.equal(service.requests.length, 6, "a refused window is sent again at once");
  assert.equal(published(sender).profiler_upload_failures_total, 0);
  assert.deepEqual(warnings, []);
  const [first, second] = service.requests;
  assert(second!.bytes < first!.bytes / 2);
  await sender.finish(10_000);
});

Deno.test("a service that never knows a block is a failure, with pauses", async () => {
  await using directory = await temporaryDirectory();
  const unknown = () => new Response("unknown", { status: 424 });
  await using service = misbehaving([unknown(), unknown()]);
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`);
  await sender.add(await packed(0, 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1]);
  assert.equal(published(sender).profiler_upload_failures_total, 2);
  assert.match(warnings.join(), /424 unknown/);
});

Deno.test("windows wait for a service that does not read the format yet, with one warning", async () => {
  await using directory = await temporaryDirectory();
  const older = () => new Response("application/json only", { status: 415 });
  await using service = misbehaving([older(), older()]);
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`);
  for (let i = 0; i < 2; i++) await sender.add(await packed(i, i + 1));
  await sender.finish(10_000);
  assert.deepEqual(spans(service.taken), [1, 2]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /older than this profiler.*415 application\/json only/);
  assert.equal(published(sender).profiler_upload_rejected_windows_total, 0);
});

Deno.test("what a service ignores is said once", async () => {
  await using directory = await temporaryDirectory();
  const answer = () => Response.json({ stored: true, ignored: ["traces"] });
  await using service = misbehaving([answer(), answer()]);
  const { sender, warnings } = await senderTo(service.base, `${directory.path}/spool`);
  for (let i = 0; i < 2; i++) await sender.add(await packed(i, i + 1));
  await sender.finish(10_000);
  assert.equal(service.requests.length, 2);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /traces/);
});
