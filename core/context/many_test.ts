/** The text about many instances: it keeps its budget, and says what it leaves out. */

import assert from "node:assert/strict";
import { instanceFacts } from "../facts/mod.ts";
import { findings, judge } from "../findings/mod.ts";
import type { Instance } from "../payload.ts";
import { type Series, seriesKey } from "../series/mod.ts";
import { nsFromTs } from "../time.ts";
import { emptyWindow } from "../window.ts";
import { reduced } from "./reduced.ts";
import type { Subject } from "./subject.ts";
import { contextText } from "./text.ts";
import { estimateTokens } from "./tokens.ts";

const START = 1_790_000_000;
const SECONDS = 60;
const asked = { from_ns: nsFromTs(START), to_ns: nsFromTs(START + SECONDS) };

/** Instances that differ in what they do, each with two devices and an engine. */
function subjectOf(count: number): Subject {
  const instances = Array.from({ length: count }, (_, at) => {
    const instance: Instance = {
      instance_id: at.toString(16).padStart(12, "0"),
      resource_id: "r",
      tags: { "host.name": `host-${at % Math.max(1, count - 3)}` },
      attributes: { "process.command_line": `python train.py --seed ${at}` },
      first_seen_ts: START - 500,
      last_seen_ts: START + SECONDS,
    };
    const steps = Array.from(
      { length: 6 },
      (_, step) => ({ window: windowOf(at, step), gaps: [] }),
    );
    return instanceFacts({ instance, asked, steps, is_running: true });
  });
  return {
    instances: instances.map((facts, at) => at < 3 ? facts : reduced(facts)),
    findings: findings(instances, instances.map(judge)),
    asked,
    matched: 2 * count,
    tags: {},
    available_tags: new Map([["host.name", instances.map((_, at) => `host-${at}`)]]),
    base_url: "http://127.0.0.1:8000",
    is_local: false,
  };
}

function windowOf(at: number, step: number) {
  const window = emptyWindow(nsFromTs(START + 10 * step));
  window.to_ns = nsFromTs(START + 10 * step + 10);
  const updated_ns = window.to_ns;
  const add = (series: Series) => window.series.set(seriesKey(series), series);
  for (const device of [0, 1]) {
    const tags = { "device.uuid": `GPU-${at}-${device}`, "process.pid": "7" };
    const busy = 1e10 * ((at * 37 + device * 11) % 100) / 100;
    const frames = new Map(
      Array.from(
        { length: 60 },
        (_, i) =>
          [`kernel_${(i * (at + 1)) % 977}_f32`, { value: busy / 60, samples: 100 + i }] as const,
      ),
    );
    add({ name: "gpu_busy_nanoseconds", type: "counter", tags, updated_ns, total: busy });
    add({ name: "cuda_kernels_nanoseconds", type: "profile", tags, updated_ns, frames });
  }
  const tags = { model_name: `model-${at}` };
  add({ name: "vllm:num_requests_running", type: "gauge", tags, updated_ns, value: at % 9 });
  add({ name: "host_cpu_usage_percent", type: "gauge", tags: {}, updated_ns, value: at % 100 });
  return window;
}

for (const count of [1, 8, 40, 400]) {
  Deno.test(`the text about ${count} instances keeps its budget`, () => {
    const subject = subjectOf(count);
    for (const max_tokens of [500, 1_500, 4_000, 8_000]) {
      const text = contextText(subject, { max_tokens });
      assert.ok(estimateTokens(text) <= max_tokens, `${estimateTokens(text)} of ${max_tokens}`);
      assert.match(
        text,
        new RegExp(`${2 * count} instances match; these are the ${count} that ran`),
      );
      assert.match(text, /^Verdict: /m);
      if (count === 1) continue;
      assert.match(text, /left out/);
      // Of the smallest text one line is a fifth.
      if (max_tokens === 500) continue;
      const used = estimateTokens(text) / max_tokens;
      assert.ok(used >= 0.85, `${used} of ${max_tokens}`);
    }
  });
}

Deno.test("facts that are reduced have the sums of the whole ones", () => {
  const [facts] = subjectOf(1).instances;
  const less = reduced(facts!);
  for (const [i, { activity }] of facts!.devices.entries()) {
    const [all, some] = [activity!, less.devices[i]!.activity!].map(({ kernels }) =>
      kernels.reduce((sum, { seconds, times }) => [sum[0]! + seconds, sum[1]! + times], [0, 0])
    );
    assert.ok(Math.abs(all![0]! - some![0]!) < 1e-9 && all![1] === some![1]);
    assert.ok(less.devices[i]!.activity!.kernels.length < activity!.kernels.length);
  }
});
