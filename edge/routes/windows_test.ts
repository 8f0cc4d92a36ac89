/** The stream of windows. */

import assert from "node:assert/strict";
import { decode, mergeAll, seriesKey, snapshot } from "@service/core";
import { readWindows, type StreamedWindow } from "@service/core/packed";
import { instance as instanceShape } from "@service/core/payload_schema";
import { nsFromTs, SECOND_NS } from "@service/core/time";
import { testOnEachStorage, testOnFile } from "../testing/each_storage.ts";
import {
  get,
  newInstanceId,
  newKey,
  NOW_TS,
  read,
  refused,
  send,
  type TestService,
} from "../testing/api.ts";

const START = NOW_TS - 100;

/** All windows of an answer. */
async function stream(service: TestService, query: string): Promise<StreamedWindow[]> {
  const response = await get(service, `/api/v1/windows?${query}`);
  if (response.status !== 200) assert.fail(await response.text());
  assert.equal(response.headers.get("content-type"), "application/vnd.service.windows");
  return await Array.fromAsync(readWindows(response.body!));
}

/** Sends windows of 10 s that start at these seconds after `START`; gives the instance's id. */
async function sendAt(service: TestService, ...froms: number[]): Promise<string> {
  const instance_id = newInstanceId();
  for (const from of froms) {
    const errors = [{
      level: "error" as const,
      message: `at ${from}`,
      exception: "",
      log_ns: nsFromTs(START + from + 5),
    }];
    await send(service, { instance_id, from: START + from, to: START + from + 10, errors });
  }
  return instance_id;
}

testOnEachStorage({
  async "each instance has the merge of its windows, with its instance, instant and gaps"(service) {
    const whole = await sendAt(service, 0, 10, 20);
    const gappy = await sendAt(service, 0, 20);
    const end = START + 30;
    const windows = await stream(
      service,
      `instance_id=${gappy},${newInstanceId()},${whole}&start=${START}&end=${end}`,
    );
    assert.deepEqual(windows.map(({ block }) => block.instance.instance_id), [gappy, whole]);
    const [late, complete] = windows;
    assert.equal(complete!.members.payload_ns, nsFromTs(end));
    assert.deepEqual(complete!.members.gaps, []);
    assert.equal(late!.members.payload_ns, nsFromTs(START + 10));
    for (const { members, window, block } of windows) {
      const listed = instanceShape.check(members.instance);
      const answer = await get(service, `/api/v1/instances?start=${START}`);
      const { instances } = decode(await answer.text()) as { instances: unknown[] };
      assert.deepEqual(
        instances.find((one) =>
          (one as { instance_id: string }).instance_id === listed.instance_id
        ),
        listed,
      );
      const payload = await read(
        service,
        `instance_id=${listed.instance_id}&start=${START}&end=${end}`,
      );
      const { metrics, errors } = snapshot(window, { context: {} });
      assert.deepEqual({ metrics, errors }, { metrics: payload.metrics, errors: payload.errors });
      assert.equal(block.instance.start_ns, nsFromTs(START));
    }
  },

  async "a gap that is passed is in the answer, and entries are those of the span"(service) {
    const id = await sendAt(service, 0, 20);
    service.clock.now_ns += 2n * 86_400n * SECOND_NS;
    const [window] = await stream(
      service,
      `instance_id=${id}&start=${START + 10}&end=${START + 30}`,
    );
    assert.deepEqual(window!.members.gaps, [
      { from_ns: nsFromTs(START + 10), to_ns: nsFromTs(START + 20) },
    ]);
    assert.deepEqual(window!.window.errors.map(({ message }) => message), ["at 20"]);
    assert.deepEqual([window!.from_ns, window!.to_ns], [20, 30].map((at) => nsFromTs(START + at)));
  },

  async "steps end at multiples of the step, and merge to the whole span"(service) {
    const id = await sendAt(service, 0, 10, 20, 30, 50);
    service.clock.now_ns += 2n * 86_400n * SECOND_NS;
    const query = `instance_id=${id}&start=${START + 5}&end=${START + 60}`;
    const [whole] = await stream(service, query);
    const steps = await stream(service, `${query}&step=20`);
    for (const [i, { to_ns, members }] of steps.entries()) {
      const payload_ns = members.payload_ns as bigint;
      assert.ok(payload_ns % (20n * SECOND_NS) === 0n || i === steps.length - 1);
      assert.ok(to_ns <= payload_ns && to_ns > payload_ns - 20n * SECOND_NS);
    }
    assert.ok(steps.length >= 3);
    const inOrder = steps.map(({ window }) => window);
    for (const [i, window] of inOrder.entries()) {
      inOrder[i] = { ...window, from_ns: inOrder[i - 1]?.to_ns ?? window.from_ns };
    }
    assert.deepEqual(
      snapshot(mergeAll(inOrder), { context: {} }).metrics,
      snapshot(whole!.window, { context: {} }).metrics,
    );
  },

  async "metrics and top select, and what is beyond the top frames stays in the sum"(service) {
    const instance_id = newInstanceId();
    const frames = new Map(
      [["a", 3], ["b", 2], ["c", 1]].map(([name, value]) =>
        [name as string, { value: value as number, samples: 1 }] as const
      ),
    );
    const updated_ns = nsFromTs(START + 10);
    const series = [
      { name: "kernels", type: "profile" as const, tags: {}, updated_ns, frames },
      { name: "level", type: "gauge" as const, tags: {}, updated_ns, value: 1 },
    ];
    await send(service, { instance_id, from: START, to: START + 10, series });
    const query = `instance_id=${instance_id}&start=${START}&end=${START + 10}`;
    const [window] = await stream(service, `${query}&metrics=kern*&top=1`);
    const kept = window!.window.series;
    assert.deepEqual([...kept.keys()], [seriesKey(series[0]!)]);
    assert.deepEqual([...kept.values()], [{
      ...series[0],
      frames: new Map([["a", { value: 3, samples: 1 }], ["(not shown)", { value: 3, samples: 2 }]]),
    }]);
  },

  async "the last window of an instance is marked, and only that"(service) {
    const instance_id = newInstanceId();
    await send(service, { instance_id, from: START, to: START + 10 });
    await send(service, { instance_id, from: START + 10, to: START + 20, final: true });
    const query = `instance_id=${instance_id}&start=${START}&end=${NOW_TS}`;
    assert.deepEqual((await stream(service, query)).map(({ final }) => final), [true]);
    assert.deepEqual(
      (await stream(service, `${query}&step=10`)).map(({ final }) => final),
      [false, true],
    );
  },

  async "another project's instance is as unknown as any"(service) {
    const id = await sendAt(service, 0);
    const other = { ...service, key: await newKey(service.db) };
    assert.deepEqual(await stream(other, `instance_id=${id}&start=${START}`), []);
  },

  async "a wrong query is refused before the stream begins"(service) {
    const id = await sendAt(service, 0);
    const many = Array.from({ length: 1_001 }, (_, i) => i).join();
    const wrong: [string, string][] = [
      [`instance_id=${id}&start=5&end=4`, "start"],
      [`instance_id=${id}&start=0&step=0`, "step"],
      [`instance_id=${id}&start=0&step=0.0001`, "step"],
      [`instance_id=${id},${id}&start=0`, "instance_id"],
      [`instance_id=${many}&start=0`, "instance_id"],
      ["start=0", "instance_id"],
    ];
    for (const [query, parameter] of wrong) {
      const { errors } = await refused(await get(service, `/api/v1/windows?${query}`), 400);
      assert.deepEqual(errors.map((error) => error.parameter), [parameter], query);
    }
  },
});

testOnFile("rows are read as the client reads, and not after it has left", async (service) => {
  const ids: string[] = [];
  for (let i = 0; i < 300; i++) ids.push(await sendAt(service, 0));
  const before = service.service.metrics.rows;
  const path = `/api/v1/windows?instance_id=${ids.join()}&start=${START}`;
  const response = await get(service, path);
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  const rows = service.service.metrics.rows - before;
  assert.ok(rows > 0 && rows < ids.length, `${rows} rows`);
  const head = await service.request(path, {
    method: "HEAD",
    headers: { "x-api-key": service.key },
  });
  assert.equal(head.status, 200);
  assert.ok(service.service.metrics.rows - before <= 2 * rows);
});

testOnFile("a failure in the middle breaks the stream off", async (service) => {
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) ids.push(await sendAt(service, 0));
  const response = await get(
    service,
    `/api/v1/windows?instance_id=${ids.join()}&start=${START}`,
  );
  const windows = readWindows(response.body!);
  await windows.next();
  await service.db.write(["DROP TABLE windows"]);
  await assert.rejects(Array.fromAsync(windows));
  assert.ok(service.log.some(({ level }) => level === "error"));
});

testOnFile("the answer is compressed for a client that accepts it", async (service) => {
  const id = await sendAt(service, 0);
  const response = await service.request(`/api/v1/windows?instance_id=${id}&start=${START}`, {
    headers: { "x-api-key": service.key, "accept-encoding": "gzip" },
  });
  assert.equal(response.headers.get("content-encoding"), "gzip");
  const inflated = response.body!.pipeThrough(new DecompressionStream("gzip"));
  assert.equal((await Array.fromAsync(readWindows(inflated))).length, 1);
});
