/** The spool keeps windows on disk, and loses no count when it is full. */

import assert from "node:assert/strict";
import { decode, type Upload } from "@service/core";
import { uploadShape } from "@service/core/upload_schema";
import { gunzip } from "../base/gzip.ts";
import { Spool } from "./spool.ts";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { upload } from "./testdata/upload.ts";

const silent = { warn: () => assert.fail("nothing to warn of") };

async function read(body: Uint8Array<ArrayBuffer>): Promise<Upload> {
  return uploadShape.check(decode(await gunzip(body)));
}

/** All that waits, acknowledged in order: spans in seconds, and the sum of the counter. */
async function drain(spool: Spool): Promise<{ spans: string[]; total: number }> {
  const spans: string[] = [];
  let total = 0;
  for (let next = await spool.next(); next; next = await spool.next()) {
    const { window } = await read(next.body);
    spans.push(`${window.from_ns / 1_000_000_000n}-${window.to_ns / 1_000_000_000n}`);
    for (const series of window.series.values()) {
      total += "total" in series ? Number(series.total) : 0;
    }
    await spool.acknowledge(next.entry);
  }
  return { spans, total };
}

async function files(path: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(path), ({ name }) => name)).sort();
}

Deno.test("the oldest window is next, and another process finds those not acknowledged", async () => {
  await using directory = await temporaryDirectory();
  const spool = await Spool.open(directory.path, silent);
  for (let i = 0; i < 3; i++) await spool.add(upload(i, i + 1, 1));
  const first = await spool.next();
  await spool.acknowledge(first!.entry);
  const second = await spool.next();
  assert.equal((await read(second!.body)).window.from_ns, 1_000_000_000n);

  const heir = await Spool.open(directory.path, silent);
  assert.equal(heir.size, 2);
  assert.deepEqual(await drain(heir), { spans: ["1-2", "2-3"], total: 2 });
  assert.deepEqual(await files(directory.path), []);
});

Deno.test("only its owner can read the spool", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/spool`;
  const spool = await Spool.open(path, silent);
  await spool.add(upload(0, 1, 1));
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o700);
  const [file] = await files(path);
  assert.equal((await Deno.stat(`${path}/${file}`)).mode! & 0o777, 0o600);
});

Deno.test("over its limit the spool merges windows never sent, and loses no count", async () => {
  await using directory = await temporaryDirectory();
  const probe = await Spool.open(`${directory.path}/probe`, silent);
  await probe.add(upload(0, 1, 1));
  const oneWindow = (await probe.next())!.entry.bytes;

  const limit = oneWindow * 8;
  const spool = await Spool.open(`${directory.path}/spool`, { ...silent, limit });
  await spool.add(upload(0, 1, 1));
  const sent = await spool.next();
  for (let i = 1; i < 100; i++) await spool.add(upload(i, i + 1, 1));
  assert(spool.size <= 9);
  const sizes = await Promise.all(
    (await files(`${directory.path}/spool`)).map(async (name) =>
      (await Deno.stat(`${directory.path}/spool/${name}`)).size
    ),
  );
  assert(sizes.reduce((sum, size) => sum + size, 0) <= limit);

  const again = await spool.next();
  assert.equal(again!.entry.to_ns, sent!.entry.to_ns, "a window that was sent is never merged");
  const { spans, total } = await drain(spool);
  assert.equal(total, 100);
  assert.equal(spans[0], "0-1");
  assert.equal(spans.at(-1)!.split("-")[1], "100");
  spans.reduce((a, b) => (assert.equal(a.split("-")[1], b.split("-")[0]), b));
});

Deno.test("a merged window replaces its parts if the profiler died before removing them", async () => {
  await using directory = await temporaryDirectory();
  const spool = await Spool.open(directory.path, silent);
  const spans: [number, number][] = [[0, 1], [1, 2], [0, 2], [2, 3]];
  for (const [from, to] of spans) await spool.add(upload(from, to, 1));
  const heir = await Spool.open(directory.path, silent);
  assert.deepEqual((await drain(heir)).spans, ["0-2", "2-3"]);
  assert.deepEqual(await files(directory.path), []);
});

Deno.test("a rejected window is kept beside the answer, and a placeholder may take its place", async () => {
  await using directory = await temporaryDirectory();
  const spool = await Spool.open(directory.path, silent);
  await spool.add(upload(0, 1, 5));
  await spool.add(upload(1, 2, 6));
  const next = await spool.next();
  await spool.reject(next!.entry, "400 no", upload(0, 1, 0));
  assert.deepEqual(await drain(spool), { spans: ["0-1", "1-2"], total: 6 });
  const [answer, body] = await files(`${directory.path}/rejected`);
  assert.equal(await Deno.readTextFile(`${directory.path}/rejected/${answer}`), "400 no");
  const kept = await read(await Deno.readFile(`${directory.path}/rejected/${body}`));
  assert.deepEqual([...kept.window.series.values()].map((s) => "total" in s && s.total), [5]);
  await spool.removeIfEmpty();
  assert.deepEqual(await files(directory.path), ["rejected"]);
});

Deno.test("without a disk, windows are held in memory, with one warning", async () => {
  await using directory = await temporaryDirectory();
  await Deno.writeTextFile(`${directory.path}/file`, "");
  const warnings: string[] = [];
  const spool = await Spool.open(
    `${directory.path}/file/spool`,
    { warn: (message) => warnings.push(message) },
  );
  for (let i = 0; i < 3; i++) await spool.add(upload(i, i + 1, 1));
  assert.deepEqual(await drain(spool), { spans: ["0-1", "1-2", "2-3"], total: 3 });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /holding them in memory/);
});

Deno.test("a window that is lost or damaged on disk does not stop the others", async () => {
  await using directory = await temporaryDirectory();
  const warnings: string[] = [];
  const spool = await Spool.open(directory.path, { warn: (message) => warnings.push(message) });
  for (let i = 0; i < 3; i++) await spool.add(upload(i, i + 1, 1));
  await Deno.remove(`${directory.path}/${(await files(directory.path))[0]}`);
  assert.deepEqual((await drain(spool)).spans, ["1-2", "2-3"]);
  assert.equal(warnings.length, 1);
});
