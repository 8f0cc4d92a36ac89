/** The interface's sentences about the hosted API that no other test holds. */

import assert from "node:assert/strict";
import { binIndex, decode, instanceList, type Series } from "@service/core";
import { nsFromTs, SECOND_NS } from "@service/core/time";
import { paths } from "../testing/described.ts";
import { testOnEachStorage, testOnFile } from "../testing/each_storage.ts";
import {
  ADMIN_TOKEN,
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
const DAY = 86_400;

/** Values of a histogram in each of three windows. */
const OBSERVED = [[0.3, 0.011, 7], [100, 42], [0.25, 0.3, 900, 13]];

/** Value of a gauge in each of three windows. */
const LEVELS = [5, 0, 3];

/** Sends three windows of 10 s with a series of each type: `OBSERVED`, `LEVELS`, 2.5 s and 3 samples. */
async function sendAll(service: TestService): Promise<string> {
  const instance_id = newInstanceId();
  for (const [i, values] of OBSERVED.entries()) {
    const [from, to] = [START + 10 * i, START + 10 * i + 10];
    const common = { tags: { "process.pid": "7" }, updated_ns: nsFromTs(to) - 1n };
    const indexes = Map.groupBy(values, binIndex);
    const series: Series[] = [
      { ...common, name: "a_level", type: "gauge", value: LEVELS[i]! },
      { ...common, name: "b_seconds", type: "counter", total: 2.5 },
      {
        ...common,
        name: "c_seconds",
        type: "histogram",
        count: values.length,
        sum: values.reduce((sum, value) => sum + value, 0),
        min: Math.min(...values),
        max: Math.max(...values),
        buckets: { bins: new Map([...indexes].map(([index, all]) => [index, all.length])) },
      },
      {
        ...common,
        name: "d_nanoseconds",
        type: "profile",
        frames: new Map([["small", { value: i, samples: 1 }], ["large", { value: 9, samples: 3 }]]),
      },
    ];
    await send(service, { instance_id, start: START, from, to, series });
  }
  return instance_id;
}

/** The value that the fraction `q` of the values does not exceed. */
function nearestRank(values: number[], q: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(q * values.length) - 1]!;
}

async function listed(service: TestService, query: string): Promise<string[]> {
  const response = await get(service, `/api/v1/instances${query}`);
  const { instances } = instanceList.check(decode(await response.text()));
  return instances.map(({ instance_id }) => instance_id);
}

testOnEachStorage({
  async "gauges are the newest, counters, histograms and profiles the sums of the window"(service) {
    const id = await sendAll(service);
    for (const [first, last] of [[0, 2], [0, 0], [1, 2], [2, 2], [0, 1]] as const) {
      const [start, end] = [START + 10 * first, START + 10 * last + 10];
      const { metrics } = await read(service, `instance_id=${id}&start=${start}&end=${end}`);
      const [level, seconds, distribution, profile] = metrics;
      const windows = last - first + 1;
      assert.deepEqual(metrics.map(({ type }) => type), [
        ...["gauge", "counter", "histogram", "profile"],
      ]);
      for (const { updated_ns } of metrics) assert.equal(updated_ns, nsFromTs(end) - 1n);
      assert.deepEqual(level!.stats, { value: LEVELS[last] });
      assert.deepEqual(seconds!.stats, { total: 2.5 * windows });
      const values = OBSERVED.slice(first, last + 1).flat();
      assert(distribution?.type === "histogram");
      const { count, sum, min, max, mean, p50, p95 } = distribution.stats;
      assert.deepEqual([count, min, max], [
        values.length,
        Math.min(...values),
        Math.max(...values),
      ]);
      assert.equal(mean, Number(sum) / count);
      for (const [quantile, q] of [[p50, 0.5], [p95, 0.95]] as const) {
        const exact = nearestRank(values, q);
        assert(Math.abs(quantile! - exact) <= exact / 4, `${quantile} is not ${exact}`);
      }
      const small = Array.from({ length: windows }, (_, i) => first + i).reduce((a, b) => a + b);
      assert.deepEqual(profile!.stats, {
        frames: [
          { name: "large", value: 9 * windows, samples: 3 * windows },
          { name: "small", value: small, samples: windows },
        ],
      });
    }
  },

  async "without start, instances of the 24 hours before end are listed, without end those up to now"(
    service,
  ) {
    const [kept, left] = [newInstanceId(), newInstanceId()];
    const [a, b] = [NOW_TS - DAY, NOW_TS - DAY - 1];
    await send(service, { instance_id: kept, start: a - 10, from: a - 10, to: a });
    await send(service, { instance_id: left, start: b - 10, from: b - 10, to: b });
    assert.deepEqual(await listed(service, ""), [kept]);
    assert.deepEqual(await listed(service, `?end=${NOW_TS}`), [kept]);
    assert.deepEqual(await listed(service, `?end=${NOW_TS + 1}`), []);
    assert.deepEqual(await listed(service, `?end=${NOW_TS - 1}`), [kept, left]);
    service.clock.now_ns += SECOND_NS;
    assert.deepEqual(await listed(service, ""), []);
  },

  async "another project's instance is not found, with its id too"(service) {
    const instance_id = newInstanceId();
    await send(service, { instance_id, from: START, to: START + 10 });
    const path = `/api/v1/signals?instance_id=${instance_id}&start=${START}`;
    assert.equal((await get(service, path)).status, 200);
    await refused(await get(service, path, await newKey(service.db)), 404);
  },
});

testOnFile("paths without /api/v1/ give no signals, all others need a key", async (service) => {
  const versioned = Object.keys(paths).filter((path) => path.startsWith("/api/v1/"));
  const others = Object.keys(paths).filter((path) => !versioned.includes(path));
  assert.deepEqual(others.sort(), ["/health", "/metrics", "/openapi.json"]);
  for (const path of versioned.filter((path) => !path.startsWith("/api/v1/admin/"))) {
    for (const method of Object.keys(paths[path]!)) {
      await refused(await service.request(path, { method: method.toUpperCase() }), 401);
    }
  }
  for (const path of ["/health", "/openapi.json"]) {
    assert.equal((await service.request(path)).status, 200);
  }
});

testOnFile("paths of the operator take its token and no key", async (service) => {
  const ofOperator = Object.keys(paths).filter((path) =>
    /^\/(metrics|api\/v1\/admin\/)/.test(path)
  );
  assert(ofOperator.length > 5);
  for (const path of ofOperator) {
    for (const name of Object.keys(paths[path]!)) {
      const ask = (headers: HeadersInit) =>
        service.request(path, { method: name.toUpperCase(), headers });
      assert([401, 404].includes((await ask({ "x-api-key": service.key })).status));
      assert.notEqual((await ask({ authorization: `Bearer ${ADMIN_TOKEN}` })).status, 401);
    }
  }
});
