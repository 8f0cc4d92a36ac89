/** Tests of uploads, and of the reads after them. */

import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { encodeUpload } from "@service/core";
import { nsFromTs } from "@service/core/time";
import { testOnEachStorage } from "../testing/each_storage.ts";
import {
  accepted,
  dump,
  get,
  makeUpload,
  newInstanceId,
  newKey,
  NOW_TS,
  post,
  read,
  refused,
  send,
  type TestService,
  work,
} from "../testing/api.ts";
import { createKey } from "../tenancy/projects.ts";

const START = NOW_TS - 100;

testOnEachStorage({
  async "a window is stored and read back"(service) {
    const instance_id = newInstanceId();
    assert.deepEqual(
      await send(service, { instance_id, from: START, to: START + 10, work: 3 }),
      { stored: true, watermark_ns: nsFromTs(START + 10) },
    );
    assert.equal(work(await read(service, `instance_id=${instance_id}&start=${START}`)), 3);
  },

  async "a repeated window is accepted and changes nothing, in any encoding"(service) {
    const upload = makeUpload({ instance_id: newInstanceId(), from: START, to: START + 10 });
    const body = encodeUpload(upload);
    assert.equal((await post(service, body)).status, 200);
    const before = await dump(service.db);
    service.clock.now_ns += 5n;
    const again = await post(service, gzipSync(body), { "content-encoding": "gzip" });
    assert.equal(again.status, 200);
    assert.match(await again.text(), /"stored":false/);
    assert.deepEqual(await dump(service.db), before);
  },

  async "the same window sent many times at once is stored once"(service) {
    const instance_id = newInstanceId();
    const body = encodeUpload(makeUpload({ instance_id, from: START, to: START + 10, work: 7 }));
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => await (await post(service, body)).text()),
    );
    assert.equal(answers.filter((text) => text.includes('"stored":true')).length, 1);
    assert.equal(work(await read(service, `instance_id=${instance_id}&start=${START}`)), 7);
  },

  async "members that the service does not know are ignored, and named in the answer"(service) {
    const instance_id = newInstanceId();
    const upload = makeUpload({ instance_id, from: START, to: START + 10, work: 3 });
    const body = encodeUpload(upload)
      .replace('"final"', '"received_ns":1,"final"')
      .replaceAll('"name"', '"exemplars":[1],"name"');
    const { project: _, ...answer } = await accepted(post(service, body));
    assert.deepEqual(answer, {
      stored: true,
      watermark_ns: nsFromTs(START + 10),
      ignored: ["received_ns", "window.series[].exemplars"],
    });
    assert.equal(work(await read(service, `instance_id=${instance_id}&start=${START}`)), 3);
  },

  async "a window that contradicts stored ones is refused and changes nothing"(service) {
    const instance_id = newInstanceId();
    await send(service, { instance_id, from: START, to: START + 10 });
    await send(service, { instance_id, from: START + 20, to: START + 30 });
    const before = await dump(service.db);
    const contradictions = {
      "another body for the span": [{ from: START, to: START + 10, work: 2 }, "window"],
      "an end inside a stored span": [{ from: START + 15, to: START + 25 }, "window"],
      "a start inside a stored span": [{ from: START + 5, to: START + 15 }, "window"],
      "a span around a stored one": [{ from: START + 15, to: START + 35 }, "window"],
      "a span inside a stored one": [{ from: START + 21, to: START + 29 }, "window"],
      "another instance start": [
        { from: START + 10, to: START + 20, start: START - 1 },
        "start_ns",
      ],
      "an end before what is stored": [
        { from: START + 10, to: START + 20, final: true },
        "final",
      ],
    } as const;
    for (const [name, [parts, parameter]] of Object.entries(contradictions)) {
      const body = encodeUpload(makeUpload({ instance_id, ...parts }));
      const { errors } = await refused(await post(service, body), 409);
      assert.deepEqual(errors.map((fault) => fault.parameter), [parameter], name);
    }
    assert.deepEqual(await dump(service.db), before);
  },

  async "a window after the final one is refused"(service) {
    const instance_id = newInstanceId();
    await send(service, { instance_id, from: START, to: START + 10, final: true });
    const body = encodeUpload(makeUpload({ instance_id, from: START + 10, to: START + 20 }));
    await refused(await post(service, body), 409);
  },

  async "the watermark waits for the gap to be filled"(service) {
    const instance_id = newInstanceId();
    const answers: unknown[] = [];
    for (const from of [20, 10, 30, 0, 50]) {
      const parts = { instance_id, from: START + from, to: START + from + 10 };
      answers.push((await send(service, parts) as { watermark_ns: bigint }).watermark_ns);
    }
    assert.deepEqual(answers, [0, 0, 0, 40, 40].map((s) => nsFromTs(START + s)));
  },

  async "tags are those of the newest window, in any order of arrival"(service) {
    const instance_id = newInstanceId();
    await send(service, { instance_id, from: START + 10, to: START + 20, tags: { phase: "new" } });
    await send(service, { instance_id, from: START, to: START + 10, tags: { phase: "old" } });
    const { context } = await read(service, `instance_id=${instance_id}&start=${START}`);
    assert.equal(context.phase, "new");
  },

  async "an upload names the project, whichever key sends it"(service) {
    const making = { project: crypto.randomUUID(), name: "k", now_ns: service.clock.now_ns };
    const keys = [await createKey(service.db, making), await createKey(service.db, making)];
    const upload = (key: string) => {
      const parts = { instance_id: newInstanceId(), from: START, to: START + 10 };
      return accepted(post({ ...service, key }, encodeUpload(makeUpload(parts))));
    };
    const [first, second] = await Promise.all(keys.map(upload));
    assert.match(first!.project, /^[0-9a-f]{32}$/);
    assert.equal(first!.project, second!.project);
    assert.notEqual((await upload(service.key)).project, first!.project);
  },

  async "an upload to a project is refused with another project's key, and changes nothing"(
    service,
  ) {
    const instance_id = newInstanceId();
    const upload = (key: string, project: string, from: number) => {
      const parts = { instance_id, from: START + from, to: START + from + 10 };
      return post({ ...service, key }, encodeUpload(makeUpload(parts)), {}, `/${project}`);
    };
    const { project } = await accepted(
      post(service, encodeUpload(makeUpload({ instance_id, from: START, to: START + 10 }))),
    );
    await accepted(upload(service.key, project, 10));
    const other = await newKey(service.db);
    const before = await dump(service.db);
    const { detail, errors } = await refused(await upload(other, project, 20), 403);
    assert.match(detail, /the project in the path is not that of the key svc_\w{8}/);
    assert.deepEqual(errors.map(({ parameter }) => parameter), ["project"]);
    await refused(await upload(service.key, project.toUpperCase() + "0", 20), 403);
    assert.deepEqual(await dump(service.db), before);
    assert.equal(work(await read(service, `instance_id=${instance_id}&start=${START}`)), 2);
  },

  async "two projects may use the same instance id, and each sees its own"(service) {
    const instance_id = newInstanceId();
    const other: TestService = { ...service, key: await newKey(service.db) };
    await send(service, { instance_id, from: START, to: START + 10, work: 1 });
    const before = await get(other, `/api/v1/signals?instance_id=${instance_id}&start=${START}`);
    await refused(before, 404);
    await send(other, { instance_id, from: START, to: START + 10, work: 2 });
    assert.equal(work(await read(service, `instance_id=${instance_id}&start=${START}`)), 1);
    assert.equal(work(await read(other, `instance_id=${instance_id}&start=${START}`)), 2);
  },

  async "another key of the project reads the same instance"(service) {
    const instance_id = newInstanceId();
    const project = crypto.randomUUID();
    const writer: TestService = { ...service, key: await newKey(service.db, project) };
    const reader: TestService = { ...service, key: await newKey(service.db, project) };
    await send(writer, { instance_id, from: START, to: START + 10, work: 4 });
    assert.equal(work(await read(reader, `instance_id=${instance_id}&start=${START}`)), 4);
  },
});
