/** The list of instances. */

import assert from "node:assert/strict";
import { decode, type Instance, instanceList } from "@service/core";
import { testOnEachStorage } from "../testing/each_storage.ts";
import {
  get,
  newInstanceId,
  newKey,
  NOW_TS,
  refused,
  send,
  type TestService,
} from "../testing/api.ts";

const DAY = 86_400;

async function list(service: TestService, query = ""): Promise<Instance[]> {
  const response = await get(service, `/api/v1/instances${query}`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return instanceList.check(decode(text)).instances;
}

async function ids(service: TestService, query: string): Promise<string[]> {
  return (await list(service, query)).map(({ instance_id }) => instance_id);
}

testOnEachStorage({
  async "an instance is listed with its tags and attributes, and those of its key"(service) {
    const instance_id = newInstanceId();
    const start = NOW_TS - 100;
    await send(service, { instance_id, start, from: start, to: start + 10 });
    await send(service, { instance_id, start, from: start + 10, to: start + 20 });
    const [instance, ...others] = await list(service);
    assert.deepEqual(others, []);
    assert.match(instance!.resource_id, /^[0-9a-f]{16}$/);
    assert.deepEqual({ ...instance, resource_id: "" }, {
      instance_id,
      resource_id: "",
      tags: {
        "instance.id": instance_id,
        "host.name": "box",
        "process.pid": "7",
        "api_key.name": "laptop",
        "project.name": instance!.tags["project.name"],
      },
      attributes: { "process.command_line": "python train.py" },
      first_seen_ts: start,
      last_seen_ts: start + 20,
    });
  },

  async "instances that ran in the range are listed, the newest first"(service) {
    const [old, early, late] = [newInstanceId(), newInstanceId(), newInstanceId()];
    for (const [instance_id, start] of [[old, DAY + 500], [early, 500], [late, 100]] as const) {
      const from = NOW_TS - start;
      await send(service, { instance_id, start: from, from, to: from + 100 });
    }
    assert.deepEqual(await ids(service, ""), [late, early]);
    assert.deepEqual(await ids(service, `?start=${NOW_TS - 2 * DAY}`), [late, early, old]);
    assert.deepEqual(await ids(service, `?end=${NOW_TS - DAY}`), [old]);
    assert.deepEqual(await ids(service, `?start=${NOW_TS - 400}&end=${NOW_TS - 101}`), [early]);
    assert.deepEqual(await ids(service, `?start=${NOW_TS - 399.5}`), [late]);
    assert.deepEqual(await ids(service, `?start=${NOW_TS}&end=${NOW_TS}`), [late]);
  },

  async "an instance whose clock is ahead is listed by its first upload, with its own times"(
    service,
  ) {
    const [ahead, next, other] = [newInstanceId(), newInstanceId(), newInstanceId()];
    const start = NOW_TS + 1_000 * DAY;
    await send(service, { instance_id: ahead, start, from: start, to: start + 10 });
    for (const instance_id of [next, other]) {
      service.clock.now_ns += 5_000_000_000n;
      const from = NOW_TS + 2;
      await send(service, { instance_id, start: from, from, to: from + 10 });
    }
    assert.deepEqual(await ids(service, ""), [other, next, ahead]);
    assert.deepEqual(await ids(service, "?limit=2"), [other, next]);
    assert.deepEqual(await ids(service, `?limit=2&after=${next}`), [ahead]);
    assert.deepEqual(await ids(service, `?end=${NOW_TS + 1}`), [ahead]);
    assert.equal((await list(service)).at(-1)!.first_seen_ts, start);
    await send(service, { instance_id: ahead, start, from: start + 10, to: start + 20 });
    assert.deepEqual(await ids(service, ""), [other, next, ahead]);
    service.clock.now_ns += 2n * BigInt(DAY) * 1_000_000_000n;
    assert.deepEqual(await ids(service, ""), [], "it has not reported for a day");
  },

  async "another project's instances are not listed"(service) {
    const from = NOW_TS - 100;
    await send(service, { instance_id: newInstanceId(), from, to: from + 10 });
    const other = { ...service, key: await newKey(service.db) };
    assert.deepEqual(await list(other), []);
  },

  async "an invalid parameter is named"(service) {
    const wrong: Record<string, string> = {
      "start=abc": "start",
      "start=": "start",
      "start=1&start=2": "start",
      "start=1e3": "start",
      "start=-1": "start",
      "start=2&end=1": "start",
      "end=abc": "end",
      "instance_id=x": "instance_id",
    };
    for (const [query, parameter] of Object.entries(wrong)) {
      const { errors } = await refused(await get(service, `/api/v1/instances?${query}`), 400);
      assert.deepEqual(errors.map((fault) => fault.parameter), [parameter], query);
    }
  },
});
