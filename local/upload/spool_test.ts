/** The spool keeps windows on disk, and loses no count when it is full. */

import assert from "node:assert/strict";
import { readWindow, WindowPacker } from "@service/core/packed";
import { Spool } from "./spool.ts";
import { temporaryDirectory } from "../../tests/temporary_directory.ts";
import { INSTANCE, packed, readUpload } from "./testdata/upload.ts";

const silent = { warn: () => assert.fail("nothing to warn of") };

/** All that waits, acknowledged in order: spans in seconds, and the sum of the counter. */
async function drain(spool: Spool): Promise<{ spans: string[]; total: number }> {
  const spans: string[] = [];
  let total = 0;
  for (let next = await spool.next(); next; next = await spool.next()) {
    const { window } = readWindow(next.window.frame, next.window.block);
    spans.push(`${window.from_ns / 1_000_000_000n}-${window.to_ns / 1_000_000_000n}`);
    for (const series of window.series.values()) {
      total += "total" in series ? Number(series.total) : 0;
    }
    await spool.acknowledge(next);
  }
  return { spans, total };
}

/** Names in a directory, without those of blocks and of what the service has stored. */
async function files(path: string): Promise<string[]> {
  return (await all(path)).filter((name) => !/\.block$|^stored\./.test(name));
}

async function all(path: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(path), ({ name }) => name)).sort();
}

Deno.test("the oldest window is next, and another process finds those not acknowledged", async () => {
  await using directory = await temporaryDirectory();
  const spool = await Spool.open(directory.path, silent);
  for (let i = 0; i < 3; i++) await spool.add(await packed(i, i + 1));
  const first = await spool.next();
  await spool.acknowledge(first!);
  const second = await spool.next();
  assert.equal(
    readWindow(second!.window.frame, second!.window.block).window.from_ns,
    1_000_000_000n,
  );

  const heir = await Spool.open(directory.path, silent);
  assert.equal(heir.size, 2);
  assert.deepEqual(await drain(heir), { spans: ["1-2", "2-3"], total: 2 });
  assert.deepEqual(await files(directory.path), []);
});

Deno.test("only its owner can read the spool", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/spool`;
  const spool = await Spool.open(path, silent);
  await spool.add(await packed(0, 1));
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o700);
  const [file] = await files(path);
  assert.equal((await Deno.stat(`${path}/${file}`)).mode! & 0o777, 0o600);
});

Deno.test("over its limit the spool merges windows never sent, and loses no count", async () => {
  await using directory = await temporaryDirectory();
  const probe = await Spool.open(`${directory.path}/probe`, silent);
  await probe.add(await packed(0, 1));
  const { entry, window: { block } } = (await probe.next())!;

  const limit = block.frame.bytes.length + entry.bytes * 8;
  const spool = await Spool.open(`${directory.path}/spool`, { ...silent, limit });
  await spool.add(await packed(0, 1));
  const sent = await spool.next();
  for (let i = 1; i < 100; i++) await spool.add(await packed(i, i + 1));
  assert(spool.size <= 9);
  const sizes = await Promise.all(
    (await all(`${directory.path}/spool`)).map(async (name) =>
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

Deno.test("what cannot be merged is dropped at the limit, the oldest first, counted and told", async () => {
  await using directory = await temporaryDirectory();
  const gauges = Array.from({ length: 300 }, (_, i) => `gauge_${i}`);
  const packedBy = new WindowPacker(INSTANCE);
  const window = (i: number) => packed(2 * i, 2 * i + 1, { gauges, packedBy });
  const { frame, block } = await window(0);
  const bytes = frame.bytes.length;
  const limit = block.frame.bytes.length + bytes * 10;
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  const spool = await Spool.open(directory.path, { warn, limit });
  // Windows with spans between them are not adjacent.
  for (let i = 0; i < 30; i++) await spool.add(await window(i));
  const { dropped } = spool.takeLost();
  assert(dropped >= 20 && dropped < 30);
  assert.equal(spool.takeLost().dropped, 0);
  assert.equal(warnings.length, 1);
  const { spans, total } = await drain(await Spool.open(directory.path, silent));
  assert.equal(spans.length, 30, "each span is told");
  assert.equal(total, 30 - dropped);
});

Deno.test("a merged window replaces its parts if the profiler died before removing them", async () => {
  await using directory = await temporaryDirectory();
  const spool = await Spool.open(directory.path, silent);
  const spans: [number, number][] = [[0, 1], [1, 2], [0, 2], [2, 3]];
  for (const [from, to] of spans) await spool.add(await packed(from, to));
  const heir = await Spool.open(directory.path, silent);
  assert.deepEqual((await drain(heir)).spans, ["0-2", "2-3"]);
  assert.deepEqual(await files(directory.path), []);
});

Deno.test("a rejected window is kept beside the answer, and a placeholder may take its place", async () => {
  await using directory = await temporaryDirectory();
  const spool = await Spool.open(directory.path, silent);
  await spool.add(await packed(0, 1, { total: 5 }));
  await spool.add(await packed(1, 2, { total: 6 }));
  const next = await spool.next();
  await spool.reject(next!, { answer: "400 no", placeholder: await packed(0, 1, { total: 0 }) });
  assert.deepEqual(await drain(spool), { spans: ["0-1", "1-2"], total: 6 });
  const [answer, body] = await files(`${directory.path}/rejected`);
  assert.equal(await Deno.readTextFile(`${directory.path}/rejected/${answer}`), "400 no");
  const kept = await readUpload(await Deno.readFile(`${directory.path}/rejected/${body}`));
  assert.deepEqual([...kept!.window.series.values()].map((s) => "total" in s && s.total), [5]);
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
  for (let i = 0; i < 3; i++) await spool.add(await packed(i, i + 1));
  assert.deepEqual(await drain(spool), { spans: ["0-1", "1-2", "2-3"], total: 3 });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /holding them in memory/);
});

Deno.test("a placeholder waits for a window that is lost on disk", async () => {
  await using directory = await temporaryDirectory();
  const warnings: string[] = [];
  const spool = await Spool.open(directory.path, { warn: (message) => warnings.push(message) });
  for (let i = 0; i < 3; i++) await spool.add(await packed(i, i + 1));
  await Deno.remove(`${directory.path}/${(await files(directory.path))[0]}`);
  assert.deepEqual(await drain(spool), { spans: ["0-1", "1-2", "2-3"], total: 2 });
  assert.equal(warnings.length, 1);
  assert.equal(spool.takeLost().damaged, 1);
  assert.equal(spool.takeLost().damaged, 0);
});

Deno.test("a damaged window is set aside, with one warning, and never sent", async () => {
  await using directory = await temporaryDirectory();
  const { frame } = await packed(0, 1);
  for (let at = 0; at < frame.bytes.length; at++) {
    const path = `${directory.path}/${at}`;
    const warnings: string[] = [];
    const spool = await Spool.open(path, { warn: (message) => warnings.push(message) });
    for (let i = 0; i < 3; i++) await spool.add(await packed(i, i + 1));
    const [first] = await files(path);
    const bytes = await Deno.readFile(`${path}/${first}`);
    await Deno.writeFile(`${path}/${first}`, at % 2 ? bytes.slice(0, at) : flipped(bytes, at));
    assert.deepEqual(await drain(spool), { spans: ["0-1", "1-2", "2-3"], total: 2 });
    assert.equal(warnings.length, 1);
    assert.equal(spool.takeLost().damaged, 1);
    assert.deepEqual(await all(`${path}/damaged`), [first!.replace("new", "sent")]);
  }
});

function flipped(bytes: Uint8Array<ArrayBuffer>, at: number): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice();
  copy[at]! ^= 255;
  return copy;
}

Deno.test("windows whose block is damaged are set aside", async () => {
  await using directory = await temporaryDirectory();
  await (await Spool.open(directory.path, silent)).add(await packed(0, 1));
  const block = (await all(directory.path)).find((name) => name.endsWith(".block"))!;
  const bytes = await Deno.readFile(`${directory.path}/${block}`);
  await Deno.writeFile(`${directory.path}/${block}`, flipped(bytes, bytes.length - 1));
  const warnings: string[] = [];
  const heir = await Spool.open(directory.path, { warn: (message) => warnings.push(message) });
  assert.equal(await heir.next(), undefined);
  assert.equal(heir.takeLost().damaged, 1);
  assert.equal(warnings.length, 1);
});

Deno.test("a spool whose run has ended without a last window gets one, after the newest stored", async () => {
  await using directory = await temporaryDirectory();
  const spool = await Spool.open(directory.path, silent);
  await spool.endInstance();
  assert.equal(spool.size, 0, "nothing of it is stored: there is no instance to end");
  for (const [from, to] of [[0, 2], [2, 7]] as const) await spool.add(await packed(from, to));
  // One that fills a gap is stored after a later one.
  for (let i = 0; i < 2; i++) await spool.acknowledge((await spool.next())!);
  await spool.fill(await packed(1, 2));
  await spool.acknowledge((await spool.next())!);

  const heir = await Spool.open(directory.path, silent);
  await heir.endInstance();
  const last = (await heir.next())!;
  const { from_ns, to_ns, final, window, members } = readWindow(
    last.window.frame,
    last.window.block,
  );
  assert.deepEqual([from_ns, to_ns, final], [7_000_000_000n, 8_000_000_000n, true]);
  assert.deepEqual(members, { ended_ns: 7_000_000_000n });
  assert.match(window.errors[0]!.message, /The end of the run is lost/);
  await heir.acknowledge(last);
  await heir.endInstance();
  assert.equal(heir.size, 0, "it has its last window now");
});

Deno.test("a block is kept once, and as long as a window names it", async () => {
  await using directory = await temporaryDirectory();
  const blocks = async () => (await all(directory.path)).filter((name) => /block$/.test(name));
  const spool = await Spool.open(directory.path, silent);
  for (let i = 0; i < 3; i++) await spool.add(await packed(i, i + 1));
  assert.equal((await blocks()).length, 1);
  const packedBy = new WindowPacker(INSTANCE);
  await spool.add(await packed(3, 4, { gauges: ["g"], packedBy }));
  assert.equal((await blocks()).length, 2);
  assert.equal((await drain(spool)).total, 4);
  await spool.add(await packed(4, 5, { gauges: ["h"], packedBy: new WindowPacker(INSTANCE) }));
  assert.equal((await blocks()).length, 1);
});

Deno.test("files of another format stay, with one warning", async () => {
  await using directory = await temporaryDirectory();
  const older = ["0-1.new.json.gz", "1-2.sent.json.gz"];
  for (const name of older) await Deno.writeTextFile(`${directory.path}/${name}`, "");
  const warnings: string[] = [];
  const spool = await Spool.open(directory.path, { warn: (message) => warnings.push(message) });
  assert.equal(spool.size, 0);
  await spool.removeIfEmpty();
  assert.deepEqual(await all(directory.path), older);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /2 files/);
});
