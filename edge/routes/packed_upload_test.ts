/** Tests of uploads in the packed format: what is stored, what is unknown, what is refused. */

import assert from "node:assert/strict";
import { crc32, gzipSync } from "node:zlib";
import fc from "fast-check";
import { encodeUpload, type Upload } from "@service/core";
import {
  type Frame,
  PACKED_TYPE,
  readFrames,
  readWindows,
  WindowPacker,
} from "@service/core/packed";
import { LAST_NS, nsFromTs, SECOND_NS, secondsFromNs, wholeSecond } from "@service/core/time";
import { uploads } from "../../core/testdata/arbitrary.ts";
import { temporaryFolder, testOnEachStorage, testOnFile } from "../testing/each_storage.ts";
import {
  accepted,
  dump,
  get,
  makeUpload,
  newInstanceId,
  newKey,
  NOW_TS,
  pack,
  post,
  postFrames,
  read,
  refused,
  startService,
  type TestService,
  work,
} from "../testing/api.ts";
import { createMemory } from "../windows/memory.ts";

const START = NOW_TS - 100;
const PARTS = { from: START, to: START + 10 };

/** Consecutive windows of one packer, ten seconds each. */
async function sequence(count: number) {
  const instance_id = newInstanceId();
  const uploads = Array.from({ length: count }, (_, i) => {
    const from = START + 10 * i;
    return makeUpload({ instance_id, from, to: from + 10, work: i + 1 });
  });
  const { window: _, final: __, ...instance } = uploads[0]!;
  const packer = new WindowPacker(instance);
  const packed = [];
  for (const upload of uploads) packed.push(await pack(upload, { packer }));
  return { instance_id, packed, query: `instance_id=${instance_id}&start=${START}` };
}

async function expectUnknown(response: Promise<Response>): Promise<void> {
  const { detail, errors } = await refused(await response, 424);
  assert.match(detail, /is not known here: send it with the window/);
  assert.deepEqual(errors.map(({ parameter }) => parameter), ["block"]);
}

async function refusedParameters(response: Promise<Response>, status: number): Promise<string[]> {
  return (await refused(await response, status)).errors.map(({ parameter }) => parameter);
}

testOnEachStorage({
  async "the last window says when the workload ended: the list and streams of windows say it too"(
    service,
  ) {
    const instance_id = newInstanceId();
    const ended_ns = nsFromTs(START + 9) - 7n;
    const upload = {
      ...makeUpload({ instance_id, from: START, to: START + 10, final: true }),
      ended_ns,
    };
    const { block, window } = await pack(upload);
    const answer = await (await postFrames(service, [block, window])).text();
    assert.ok(!answer.includes("ignored"), answer);
    const list = await (await get(service, "/api/v1/instances")).json();
    assert.equal(list.instances[0].last_seen_ts, START + 8);
    const path = `/api/v1/windows?instance_id=${instance_id}&start=${START}`;
    const [read] = await Array.fromAsync(readWindows((await get(service, path)).body!));
    assert.equal(read!.members.ended_ns, ended_ns);
    for (const wrong of [ended_ns + 10n * SECOND_NS, "soon", nsFromTs(1)]) {
      const { block, window } = await pack(upload, { members: { ended_ns: wrong } });
      const { errors } = await refused(await postFrames(service, [block, window]), 400);
      assert.equal(errors[0]!.parameter, "ended_ns");
    }
  },

  async "a window that does not end on a whole second is refused, the last one too"(service) {
    for (const final of [false, true]) {
      const upload = makeUpload({
        instance_id: newInstanceId(),
        from: START,
        to: START + 10,
        final,
      });
      upload.window.to_ns -= 1n;
      const { block, window } = await pack(upload);
      const { detail } = await refused(await postFrames(service, [block, window]), 400);
      assert.match(detail, /to_ns must be a whole second: round the end of the last window up/);
    }
  },

  async "a window is stored with its block, and the next ones without"(service) {
    const { packed: [first, second, third], instance_id, query } = await sequence(3);
    const { block, hash } = first!;
    const { project, ...answer } = await accepted(postFrames(service, [block, first!.window]));
    assert.deepEqual(answer, {
      stored: true,
      watermark_ns: nsFromTs(START + 10),
      block: hash,
    });
    assert.deepEqual(await accepted(postFrames(service, [second!.window])), {
      project,
      stored: true,
      watermark_ns: nsFromTs(START + 20),
      block: hash,
    });
    const gzip = { "content-encoding": "gzip", "content-type": PACKED_TYPE };
    await accepted(post(service, gzipSync(third!.window.bytes), gzip));
    assert.equal(work(await read(service, query)), 1 + 2 + 3);
    const { rows } = await service.db.query({
      sql: "SELECT body FROM windows WHERE level = 0 AND to_ns = ? AND instance = " +
        "(SELECT id FROM instances WHERE instance_id = ?)",
      args: [nsFromTs(START + 20), instance_id],
    });
    assert.deepEqual(new Uint8Array(rows[0]!.body as ArrayBuffer), second!.window.bytes);
  },

  async "a window is stored once, with its block or without"(service) {
    const { packed: [first], instance_id } = await sequence(1);
    const { block, window } = first!;
    const { project } = await accepted(postFrames(service, [block, window]));
    const before = await dump(service.db);
    for (const frames of [[window], [block, window]]) {
      assert.deepEqual(await accepted(postFrames(service, frames)), {
        project,
        stored: false,
        watermark_ns: nsFromTs(START + 10),
        block: first!.hash,
      });
    }
    const other = await pack(makeUpload({ instance_id, ...PARTS, work: 9 }));
    await refused(await postFrames(service, [other.block, other.window]), 409);
    assert.deepEqual(await dump(service.db), before);
  },

  async "the same window sent many times at once is stored once"(service) {
    const { packed: [first], query } = await sequence(1);
    const { block, window } = first!;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => accepted(postFrames(service, [block, window]))),
    );
    assert.equal(answers.filter(({ stored }) => stored).length, 1);
    assert.equal(work(await read(service, query)), 1);
  },

  async "a block that another project has sent is unknown"(service) {
    const other: TestService = { ...service, key: await newKey(service.db) };
    const { packed: [first, second], query } = await sequence(2);
    await accepted(postFrames(service, [first!.block, first!.window]));
    await expectUnknown(postFrames(other, [first!.window]));
    await accepted(postFrames(other, [first!.block, first!.window]));
    await accepted(postFrames(other, [second!.window]));
    assert.equal(work(await read(service, query)), 1);
    assert.equal(work(await read(other, query)), 3);
  },

  async "a block whose row is lost is stored again from memory"(service) {
    const { packed: [first, second, third], query } = await sequence(3);
    await accepted(postFrames(service, [first!.block, first!.window]));
    await service.db.write(["DELETE FROM blocks", "DELETE FROM windows", "DELETE FROM instances"]);
    await accepted(postFrames(service, [first!.window]));
    await accepted(postFrames(service, [second!.window]));
    await accepted(postFrames(service, [third!.window]));
    assert.equal(work(await read(service, query)), 6);
  },

  async "entries are stored as rows of their own, and other members are named"(service) {
    const log_ns = nsFromTs(START + 5);
    const upload = makeUpload({
      instance_id: newInstanceId(),
      from: START,
      to: START + 10,
      errors: [{ level: "error", message: "lost", exception: "", log_ns, ...{ code: 7 } }],
    });
    const { block, window } = await pack(upload, { members: { markers: [1], exemplars: {} } });
    const { ignored } = await accepted(postFrames(service, [block, window]));
    assert.deepEqual(ignored, ["errors[].code", "exemplars", "markers"]);
    const rest = { instance_id: upload.instance_id, from: START + 10, to: START + 80 };
    const next = await pack(makeUpload(rest));
    await accepted(postFrames(service, [next.block, next.window]));
    const query = `instance_id=${upload.instance_id}&start=${START}`;
    const { errors } = await read(service, query);
    assert.deepEqual(errors.map(({ message }) => message), ["lost"]);
    assert.equal((await accepted(postFrames(service, [window]))).stored, false);
  },
});

testOnFile("a service that lost its memory finds the block in its row", async (service) => {
  const { packed: [first, second, third], query } = await sequence(3);
  await accepted(postFrames(service, [first!.block, first!.window]));
  service.service.memory = createMemory();
  await accepted(postFrames(service, [second!.window]));
  service.service.memory = createMemory();
  await service.db.write(["DELETE FROM blocks"]);
  await expectUnknown(postFrames(service, [third!.window]));
  await accepted(postFrames(service, [third!.block, third!.window]));
  assert.equal(work(await read(service, query)), 6);
});

testOnFile("a damaged row of a block is as good as none, and is replaced", async (service) => {
  const { packed: [first, second], query } = await sequence(2);
  await accepted(postFrames(service, [first!.block, first!.window]));
  await service.db.write(["UPDATE blocks SET body = substr(body, 1, length(body) - 4)"]);
  service.service.memory = createMemory();
  await expectUnknown(postFrames(service, [second!.window]));
  await accepted(postFrames(service, [second!.block, second!.window]));
  assert.equal(work(await read(service, query)), 3);
});

Deno.test("two processes take the windows of one instance in turn", async () => {
  using folder = temporaryFolder();
  using one = await startService(folder.url);
  using two = await startService(folder.url);
  const { packed, query } = await sequence(20);
  await accepted(postFrames(one, [packed[0]!.block, packed[0]!.window]));
  for (const [i, { window }] of packed.entries()) {
    const [here, there] = i % 3 === 0 ? [one, two] : [two, one];
    const frames = [window];
    await accepted(postFrames({ ...here, key: one.key }, frames));
    assert.equal((await accepted(postFrames({ ...there, key: one.key }, frames))).stored, false);
  }
  assert.equal(work(await read({ ...two, key: one.key }, query)), 210);
});

testOnFile("bytes that are flipped, cut or repeated store nothing", async (service) => {
  const { packed: [first] } = await sequence(1);
  const { block, window } = first!;
  const whole = new Uint8Array([...block.bytes, ...window.bytes]);
  const before = await dump(service.db);
  const refuses = async (bytes: Uint8Array, what: string) => {
    const response = await post(service, bytes, { "content-type": PACKED_TYPE });
    const text = await response.text();
    assert.ok([400, 415].includes(response.status), `${what}: ${response.status} ${text}`);
  };
  for (let at = 0; at < whole.length; at++) {
    await refuses(whole.with(at, whole[at]! ^ 1 << at % 8), `bit of byte ${at}`);
    if (at !== block.bytes.length) await refuses(whole.subarray(0, at), `${at} bytes`);
  }
  await refuses(new Uint8Array([...whole, ...whole]), "twice");
  await refuses(new Uint8Array([...whole, ...window.bytes]), "two windows");
  await refuses(new Uint8Array([...window.bytes, ...block.bytes]), "the block last");
  await refuses(block.bytes, "the block alone");
  assert.deepEqual(await dump(service.db), before);
  await accepted(postFrames(service, [block, window]));
});

testOnFile("a window is refused that contradicts its block", async (service) => {
  const { packed: [first] } = await sequence(1);
  const { block } = await pack(makeUpload({ instance_id: newInstanceId(), ...PARTS }));
  const { window } = first!;
  assert.deepEqual(await refusedParameters(postFrames(service, [block, window]), 400), ["block"]);
  const early = makeUpload({ instance_id: newInstanceId(), ...PARTS, start: START + 1 });
  assert.deepEqual(await refusedParameters(postParts(service, early), 400), ["from_ns"]);
  const upload = makeUpload({ instance_id: newInstanceId(), ...PARTS });
  const empty = { ...upload, window: { ...upload.window, from_ns: upload.window.to_ns } };
  assert.deepEqual(await refusedParameters(postParts(service, empty), 400), ["to_ns"]);
  await expectUnknown(postFrames(service, [window]));
});

async function postParts(service: TestService, upload: Upload): Promise<Response> {
  const { block, window } = await pack(upload);
  return await postFrames(service, [block, window]);
}

testOnFile("a window of another format is refused as one", async (service) => {
  const { packed: [first] } = await sequence(1);
  const { detail } = await refused(await postFrames(service, [ofFormat(2, first!.window)]), 415);
  assert.match(detail, /must be of format 1: got 2/);
});

/** The frame, as one of another format. */
function ofFormat(format: number, { bytes }: Frame): Pick<Frame, "bytes"> {
  const changed = bytes.with(4, format);
  new DataView(changed.buffer).setUint32(16, crc32(changed.subarray(0, 16)), true);
  assert.throws(() => [...readFrames(changed)], /must be of format 1/);
  return { bytes: changed };
}

testOnFile("an upload reads the same in JSON and in the packed format", async (service) => {
  await fc.assert(
    fc.asyncProperty(uploads, async ({ window: { from_ns, to_ns, ...rest }, ...about }) => {
      const { instance_id, start_ns } = about;
      to_ns = wholeSecond(to_ns);
      if (from_ns !== start_ns) from_ns = wholeSecond(from_ns);
      const upload = { ...about, window: { ...rest, from_ns, to_ns } };
      fc.pre(to_ns <= LAST_NS);
      service.clock.now_ns = to_ns;
      const [json, packed] = await Promise.all(
        [0, 1].map(async () => ({ ...service, key: await newKey(service.db) })),
      );
      await accepted(post(json!, encodeUpload(upload)));
      await accepted(postParts(packed!, upload));
      const [start, end] = [start_ns, to_ns].map(secondsFromNs);
      const query = `instance_id=${instance_id}&start=${start}&end=${end}`;
      const [a, b] = [await read(json!, query), await read(packed!, query)];
      assert.deepEqual({ ...a, context: {} }, { ...b, context: {} });
    }),
    { numRuns: 40 },
  );
});
