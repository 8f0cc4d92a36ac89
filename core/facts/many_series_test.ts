/** Tests of facts of as many series as a window may have: each has its own numbers. */

import assert from "node:assert/strict";
import { MAX_SERIES } from "../limits.ts";
import { type Series, seriesKey } from "../series/mod.ts";
import type { Tags } from "../tags.ts";
import { nsFromTs } from "../time.ts";
import { emptyWindow } from "../window.ts";
import { type InstanceFacts, instanceFacts } from "./mod.ts";

const START = 1_790_000_000;
const asked = { from_ns: nsFromTs(START), to_ns: nsFromTs(START + 10) };

function factsOf(name: string, type: "gauge" | "counter", tagsOf: (at: number) => Tags) {
  const window = { ...emptyWindow(asked.from_ns), to_ns: asked.to_ns };
  for (let at = 0; at < MAX_SERIES; at++) {
    const common = { name, tags: tagsOf(at), updated_ns: asked.to_ns };
    const series: Series = type === "gauge"
      ? { ...common, type, value: at }
      : { ...common, type, total: at };
    window.series.set(seriesKey(series), series);
  }
  const instance = {
    instance_id: "0123456789ab",
    resource_id: "r",
    tags: {},
    attributes: {},
    first_seen_ts: START - 100,
    last_seen_ts: START + 10,
  };
  const steps = [{ window, gaps: [] }];
  return instanceFacts({ instance, asked, steps, is_running: true });
}

const cases: [
  of: string,
  facts: () => InstanceFacts,
  listed: (facts: InstanceFacts) => unknown[],
][] = [
  [
    "processes",
    () => factsOf("process_user_cpu_seconds", "counter", (at) => ({ "process.pid": `${at}` })),
    ({ processes }) => processes.map(({ pid, user_cpus }) => [pid, user_cpus]),
  ],
  [
    "devices",
    () => factsOf("gpu_temperature_celsius", "gauge", (at) => ({ "device.uuid": `${at}` })),
    ({ devices }) => devices.map(({ uuid, temperature }) => [uuid, temperature?.last]),
  ],
  [
    "pressure stalls",
    () =>
      factsOf("host_pressure_stall_microseconds", "counter", (at) => ({
        kind: "some",
        resource: `${at}`,
      })),
    ({ host }) => host.stalled.map(({ resource, share }) => [resource, share * 1e6]),
  ],
  [
    "engines of one address",
    () =>
      factsOf("vllm:num_requests_running", "gauge", (at) => ({
        "metrics.url": "http://127.0.0.1:8000/metrics",
        model_name: `${at}`,
      })),
    ({ engines }) => engines.map(({ tags, running }) => [tags.model_name, running?.last]),
  ],
];

for (const [of, factsOfCase, listed] of cases) {
  Deno.test(`facts of ${MAX_SERIES} ${of} are read, each with its own number`, () => {
    const rows = listed(factsOfCase());
    assert.equal(rows.length, MAX_SERIES);
    for (const [name, value] of rows as [string, number][]) {
      const expected = of === "pressure stalls" || of === "processes" ? Number(name) / 10 : +name;
      assert.ok(Math.abs(value - expected) <= 1e-9 * expected, `${name}: ${value}`);
    }
  });
}
