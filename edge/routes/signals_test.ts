/** The snapshot of an instance. */

import assert from "node:assert/strict";
import type { ErrorEntry, Series } from "@service/core";
import { MAX_ERRORS } from "@service/core/limits";
import { nsFromTs, secondsFromNs } from "@service/core/time";
import { testOnEachStorage } from "../testing/each_storage.ts";
import {
  get,
  newInstanceId,
  NOW_TS,
  read,
  refused,
  send,
  type TestService,
  work,
} from "../testing/api.ts";
import { DAY_NS } from "../windows/levels.ts";
import { VERSION } from "../version.ts";

const START = NOW_TS - 100;

/** Sends windows of 10 s that start at these seconds after `START`, each with one unit of work. */
async function sendAt(service: TestService, ...froms: number[]): Promise<string> {
  const instance_id = newInstanceId();
  for (const from of froms) {
    await send(service, { instance_id, from: START + from, to: START + from + 10 });
  }
  return instance_id;
}

testOnEachStorage({
  async "the payload names the service, the instance and the start"(service) {
    const id = await sendAt(service, 0);
    const payload = await read(service, `instance_id=${id}&start=${START}`);
    assert.deepEqual(payload.platform, { version: VERSION });
    assert.equal(payload.profiler, undefined);
    assert.equal(payload.start_ns, nsFromTs(START));
    assert.equal(payload.payload_ns, nsFromTs(START + 10));
    const { context } = payload;
    assert.equal(context["instance.id"], id);
    assert.equal(context["host.name"], "box");
    assert.equal(context["api_key.name"], "laptop");
    assert.ok(context["project.name"]);
  },

  async "an unknown instance is not found"(service) {
    const path = `/api/v1/signals?instance_id=${newInstanceId()}&start=1`;
    const { errors } = await refused(await get(service, path), 404);
    assert.equal(errors[0]?.parameter, "instance_id");
  },

  async "an empty span has no metrics"(service) {
    const id = await sendAt(service, 0);
    const payload = await read(service, `instance_id=${id}&start=${START}&end=${START}`);
    assert.deepEqual(payload.metrics, []);
    assert.equal(payload.payload_ns, nsFromTs(START));
  },

  async "a window belongs to the span in which it ends: after start, up to end"(service) {
    const id = await sendAt(service, 0, 10, 20);
    const between = async (start: string, end: string) =>
      work(await read(service, `instance_id=${id}&start=${start}&end=${end}`));
    assert.equal(await between(`${START}`, `${START + 20}`), 2);
    assert.equal(await between(`${START}.000000001`, `${START + 19}.999998999`), 1);
    assert.equal(await between(`${START + 9}.999998999`, `${START + 10}`), 1);
    assert.equal(await between(`${START + 10}`, `${START + 30}`), 2);
  },

  async "an instant less than a microsecond below a window's end is that end"(service) {
    const id = await sendAt(service, 0, 10, 20);
    const ask = (start: string, end: string) =>
      read(service, `instance_id=${id}&start=${start}&end=${end}`);
    for (const fraction of ["999999", "999999880790710", "999999999"]) {
      const cut = `${START + 9}.${fraction.slice(0, 9)}`;
      const [first, second] = [await ask(`${START}`, cut), await ask(cut, `${START + 30}`)];
      assert.deepEqual([work(first), work(second)], [1, 2], cut);
      assert.equal(first.payload_ns, nsFromTs(START + 10));
      assert.equal(second.start_ns, nsFromTs(START + 10));
    }
  },

  async "a reader that holds payload_ns / 1e9 in a double counts each window once"(service) {
    const instance_id = newInstanceId();
    const to = START + 1_000_003;
    let next = String(START);
    let sum = 0;
    for (let from = START; from < to; from += 333_333) {
      const end = Math.min(from + 333_333, to);
      const final = end === to;
      await send(service, { instance_id, start: START, from, to: end, final });
      const payload = await read(service, `instance_id=${instance_id}&start=${next}&end=${to}`);
      sum += Number(work(payload));
      // Some print fewer digits than a double has.
      next = (Number(payload.payload_ns) / 1e9 - 2 ** -22).toFixed(7);
    }
    assert.equal(sum, 4);
  },

  async "while an instance may report, a read ends at its watermark"(service) {
    const id = await sendAt(service, 0, 20);
    const payload = await read(service, `instance_id=${id}&start=${START}`);
    assert.equal(payload.payload_ns, nsFromTs(START + 10));
    assert.equal(work(payload), 1);
    const later = await read(service, `instance_id=${id}&start=${START + 15}&end=${START + 40}`);
    assert.equal(later.payload_ns, nsFromTs(START + 15));
    assert.deepEqual(later.metrics, []);
  },

  async "an instance with a clock ahead is also read up to its watermark"(service) {
    const id = await sendAt(service, 0, 10);
    service.clock.now_ns = nsFromTs(START + 5);
    const payload = await read(service, `instance_id=${id}&start=${START}`);
    assert.equal(payload.payload_ns, nsFromTs(START + 20));
    assert.equal(work(payload), 2);
  },

  async "after the final window, the snapshot is as of end"(service) {
    const id = await sendAt(service, 0);
    const last = { instance_id: id, from: START + 10, to: START + 13, final: true };
    await send(service, last);
    service.clock.now_ns += 1n;
    const payload = await read(service, `instance_id=${id}&start=${START}`);
    assert.equal(payload.payload_ns, nsFromTs(NOW_TS + 1));
    assert.equal(work(payload), 2);
    assert.deepEqual(payload.errors, []);
  },

  async "a final window after a gap does not move the watermark over the gap"(service) {
    const id = await sendAt(service, 0);
    await send(service, { instance_id: id, from: START + 20, to: START + 30, final: true });
    const waiting = await read(service, `instance_id=${id}&start=${START}`);
    assert.equal(waiting.payload_ns, nsFromTs(START + 10));
    await send(service, { instance_id: id, from: START + 10, to: START + 20 });
    const payload = await read(service, `instance_id=${id}&start=${START}`);
    assert.equal(payload.payload_ns, nsFromTs(NOW_TS));
    assert.equal(work(payload), 3);
  },

  async "after a day of silence a read ends at end, with a warning of the gaps"(service) {
    const id = await sendAt(service, 10, 40);
    service.clock.now_ns += DAY_NS;
    const payload = await read(service, `instance_id=${id}&start=${START}`);
    assert.equal(work(payload), 2);
    const [warning] = payload.errors;
    assert.equal(warning?.level, "warning");
    assert.match(warning.message, new RegExp(`^30 s between ${START} and ${START + 40} `));
    const part = await read(service, `instance_id=${id}&start=${START + 10}&end=${START + 30}`);
    assert.match(part.errors[0]!.message, /^10 s between/);
    const complete = await read(service, `instance_id=${id}&start=${START + 40}`);
    assert.deepEqual(complete.errors, []);
  },

  async "a start older than the retention gives no metrics, and a warning"(service) {
    const id = await sendAt(service, 0);
    const oldest = service.clock.now_ns - 30n * DAY_NS;
    const old = await read(service, `instance_id=${id}&start=${secondsFromNs(oldest - 1n)}`);
    assert.deepEqual(old.metrics, []);
    assert.match(old.errors[0]!.message, /older than the retention/);
    assert.equal(work(await read(service, `instance_id=${id}&start=${secondsFromNs(oldest)}`)), 1);
  },

  async "metrics and top select part of the payload"(service) {
    const instance_id = newInstanceId();
    const updated_ns = nsFromTs(START + 10);
    const gauge = (name: string): Series => ({
      name,
      type: "gauge",
      tags: {},
      updated_ns,
      value: 0,
    });
    const frames = new Map(
      ["a", "b", "c", "d"].map((name, i) => [name, { value: i + 1.5, samples: 1 }]),
    );
    const series: Series[] = [
      gauge("cpu_percent"),
      gauge("cpu_seconds"),
      gauge("memory"),
      { name: "kernels", type: "profile", tags: {}, updated_ns, frames },
    ];
    await send(service, { instance_id, from: START, to: START + 10, series });
    const query = `instance_id=${instance_id}&start=${START}&metrics=cpu_*,kernels&top=2`;
    const { metrics } = await read(service, query);
    assert.deepEqual(metrics.map(({ name }) => name), ["cpu_percent", "cpu_seconds", "kernels"]);
    assert.deepEqual(metrics[2]?.stats, {
      frames: [
        { name: "d", value: 4.5, samples: 1 },
        { name: "(not shown)", value: 4, samples: 2 },
        { name: "c", value: 3.5, samples: 1 },
      ],
    });
  },

  async "integers above 2^53 stay exact"(service) {
    const instance_id = newInstanceId();
    for (const from of [0, 10]) {
      await send(service, {
        instance_id,
        from: START + from,
        to: START + from + 10,
        work: Number.MAX_SAFE_INTEGER,
      });
    }
    const payload = await read(service, `instance_id=${instance_id}&start=${START}`);
    assert.equal(work(payload), 18_014_398_509_481_982n);
  },

  async "errors are the newest up to the snapshot instant, for any start"(service) {
    const instance_id = newInstanceId();
    const entry = (second: number, i: number): ErrorEntry => ({
      level: "error",
      message: `error ${second}.${i}`,
      exception: "Traceback …",
      log_ns: nsFromTs(START + second) + BigInt(i),
    });
    for (const from of [0, 10, 20, 30]) {
      const errors = from === 10 ? [] : Array.from({ length: 60 }, (_, i) => entry(from + 1, i));
      await send(service, { instance_id, from: START + from, to: START + from + 10, errors });
    }
    const { errors } = await read(
      service,
      `instance_id=${instance_id}&start=${START + 25}&end=${START + 39}`,
    );
    assert.equal(errors.length, MAX_ERRORS);
    assert.equal(errors[0]?.message, "error 21.59");
    assert.equal(errors.at(-1)?.message, "error 1.20");
  },

  async "the answer is compressed if the client accepts gzip"(service) {
    const instance_id = newInstanceId();
    const tags = { "a.long.tag": "x".repeat(2_000) };
    await send(service, { instance_id, from: START, to: START + 10, tags });
    const path = `/api/v1/signals/?instance_id=${instance_id}&start=${START}`;
    const response = await service.request(path, {
      headers: { "x-api-key": service.key, "accept-encoding": "gzip" },
    });
    assert.equal(response.headers.get("content-encoding"), "gzip");
    const inflated = response.body!.pipeThrough(new DecompressionStream("gzip"));
    assert.match(await new Response(inflated).text(), /"work_total"/);
  },
});
