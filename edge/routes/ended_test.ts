/** Gauges of a snapshot are those of processes that still ran; what ended processes did still counts. */

import assert from "node:assert/strict";
import type { Resource, Series, Signals } from "@service/core";
import { nsFromTs } from "@service/core/time";
import { testOnEachStorage } from "../testing/each_storage.ts";
import { newInstanceId, NOW_TS, read, send, type TestService } from "../testing/api.ts";

/** A whole minute, so that roll-ups are made of the windows. */
const START = NOW_TS - NOW_TS % 60 - 120;
const WINDOWS = 8;

/** Sends windows of 10 s: the root runs in all of them, each other process in one alone. */
async function sendProcesses(service: TestService): Promise<string> {
  const instance_id = newInstanceId();
  for (let i = 0; i < WINDOWS; i++) {
    const to = START + 10 * (i + 1);
    const pids = ["1", String(100 + i)];
    const series = pids.flatMap((pid): Series[] => {
      const identity = { tags: { "process.pid": pid }, updated_ns: nsFromTs(to) };
      return [
        { name: "process_cpu_usage_percent", type: "gauge", value: 2.3, ...identity },
        { name: "process_user_cpu_seconds", type: "counter", total: 1, ...identity },
      ];
    });
    const resources = pids.map((pid): Resource => ({
      kind: "process",
      tags: { "process.pid": pid },
      attributes: {},
      first_seen_ts: pid === "1" ? START : to - 9,
      last_seen_ts: to,
    }));
    await send(service, { instance_id, start: START, from: to - 10, to, series, resources });
  }
  return instance_id;
}

/** Values of the metric by pid. */
function byPid({ metrics }: Signals, name: string): [pid: string, value: number][] {
  return metrics.flatMap(({ name: own, tags, stats }): [string, number][] => {
    if (own !== name) return [];
    const value = "total" in stats ? stats.total : "value" in stats ? stats.value : NaN;
    return [[tags["process.pid"]!, Number(value)]];
  });
}

testOnEachStorage({
  async "at any end, gauges add up to those of the processes that run then"(service) {
    const instance_id = await sendProcesses(service);
    for (let i = 0; i < WINDOWS; i++) {
      const end = START + 10 * (i + 1);
      const payload = await read(service, `instance_id=${instance_id}&start=${START}&end=${end}`);
      assert.deepEqual(byPid(payload, "process_cpu_usage_percent"), [
        ["1", 2.3],
        [String(100 + i), 2.3],
      ]);
      const seconds = byPid(payload, "process_user_cpu_seconds");
      assert.equal(seconds.length, i + 2);
      assert.equal(seconds.reduce((sum, [, value]) => sum + value, 0), 2 * (i + 1));
    }
  },
});
