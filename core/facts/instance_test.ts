/** Tests of facts of one instance: its steps, the modes of its processes, the servers of its engines. */

import assert from "node:assert/strict";
import { play } from "../findings/testdata/windows.ts";
import { training } from "../findings/testdata/workloads.ts";
import { type Series, seriesKey } from "../series/mod.ts";
import { SECOND_NS } from "../time.ts";
import { emptyWindow } from "../window.ts";
import { instanceFacts } from "./mod.ts";

const START = 1_790_000_000;
const START_NS = BigInt(START) * SECOND_NS;

/** Facts of windows of these lengths in seconds, one after the other, each with the series. */
function factsOf(lengths: readonly number[], series: readonly Omit<Series, "updated_ns">[]) {
  let at_ns = START_NS;
  const steps = lengths.map((seconds) => {
    const window = emptyWindow(at_ns);
    at_ns += BigInt(seconds * 1e9);
    window.to_ns = at_ns;
    for (const one of series) {
      const whole = { ...one, updated_ns: at_ns } as Series;
      window.series.set(seriesKey(whole), whole);
    }
    return { window, gaps: [] };
  });
  const instance = {
    instance_id: "0123456789ab",
    resource_id: "r",
    tags: {},
    attributes: {},
    first_seen_ts: START - 100,
    last_seen_ts: START,
  };
  const asked = { from_ns: START_NS, to_ns: at_ns };
  return instanceFacts({ instance, asked, steps, is_running: false });
}

Deno.test("a step of an instant has no rate of its own, be it the first or the last", () => {
  const work = { name: "work_total", type: "counter", tags: {}, total: 8 } as const;
  const facts = factsOf([0.001, 10, 10, 0.001], [work]);
  assert.deepEqual(facts.steps.map(({ seconds }) => seconds), [10.001, 10.001]);
  assert.deepEqual(facts.courses[0]!.values, [16 / 10.001, 16 / 10.001]);
  assert.deepEqual(factsOf([0.25], [work]).courses[0]!.values, [32], "where it is all there is");
});

Deno.test("the time between two steps is a gap, whoever read them", () => {
  const read = play(training(), { steps: 6 });
  const [missing] = read.steps.slice(2);
  const steps = read.steps.filter((step) => step !== missing);
  const { span } = instanceFacts({ ...read, steps });
  const { from_ns, to_ns } = missing!.window;
  assert.deepEqual([span.gaps, span.covered_seconds], [[{ from_ns, to_ns }], 50]);
});

Deno.test("each device has the graph mode of its own processes", () => {
  const modes = { a: ["1"], b: ["2"], both: ["1", "2"], none: ["3"] };
  const busy = Object.entries(modes).flatMap(([uuid, pids]) =>
    pids.map((pid) => {
      const tags = { "device.uuid": uuid, "process.pid": pid };
      return { name: "gpu_busy_nanoseconds", type: "counter", tags, total: 5e8 } as const;
    })
  );
  const told = [0, 1].map((value) => {
    const tags = { "process.pid": String(value + 1) };
    return { name: "cuda_graph_trace_mode", type: "gauge", tags, value } as const;
  });
  const { devices } = factsOf([1], [...busy, ...told]);
  assert.deepEqual(
    devices.map(({ uuid, activity }) => [uuid, activity!.graph_trace_mode]),
    [["a", 0], ["b", 1], ["both", null], ["none", null]],
  );
});

Deno.test("each server of an engine has its own configuration", () => {
  const series = ["0", "1"].flatMap((engine) => {
    const tags = { engine, model_name: "m", "metrics.url": "u" };
    const blocks = String(100 * (Number(engine) + 1));
    const { model_name: _, ...some } = tags;
    const configured = { ...some, num_gpu_blocks: blocks, block_size: "16" };
    return [
      { name: "vllm:num_requests_running", type: "gauge", tags, value: 1 },
      { name: "vllm:cache_config_info", type: "gauge", tags: configured, value: 1 },
    ] as const;
  });
  const { engines } = factsOf([1], series);
  assert.deepEqual(
    engines.map(({ tags, cache_tokens }) => [tags.engine, cache_tokens]),
    [["0", 1_600], ["1", 3_200]],
  );
});

Deno.test("ranks of SGLang are one server: their requests are added, shares are not, copies count once", () => {
  const rank = (dp_rank: string, tp_rank: string) => ({ model_name: "m", dp_rank, tp_rank });
  const gauges = ["0", "1"].flatMap((dp) =>
    ["0", "1"].flatMap((tp) => [
      { name: "sglang:num_running_reqs", type: "gauge", tags: rank(dp, tp), value: 6 } as const,
      {
        name: "sglang:token_usage",
        type: "gauge",
        tags: rank(dp, tp),
        value: 0.5 + 0.25 * Number(dp),
      } as const,
    ])
  );
  // The tokens are counted before requests go to a rank.
  const tokens = {
    name: "sglang:generation_tokens_total",
    type: "counter",
    tags: { model_name: "m" },
    total: 500,
  } as const;
  const { engines } = factsOf([10, 10], [...gauges, tokens]);
  assert.equal(engines.length, 1);
  const [one] = engines;
  assert.deepEqual(
    [one!.running?.mean, one!.cache_use?.mean, one!.generated_tokens_per_second],
    [12, 0.625, 50],
  );
});
