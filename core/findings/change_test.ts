/** Changes within the span: the instant from which on less is done, and what moved with it. */

import assert from "node:assert/strict";
import { judged, testFindings } from "./testdata/judged.ts";
import type { Load } from "./testdata/load.ts";
import { decoder, serving, vllm } from "./testdata/workloads.ts";

/** An engine that makes `share` of its tokens from step 15 on. */
function after(share: number, more: (step: number) => Partial<Load> = () => ({})) {
  return (step: number): Load => {
    const now = step < 15 ? 1 : share;
    return serving({
      engine: vllm({
        counters: { "vllm:generation_tokens_total": 3480 * now },
        histograms: {
          "vllm:inter_token_latency_seconds": [3480 * now, 0.0115 / now],
          "vllm:e2e_request_latency_seconds": [8.7 * now, 4.7 / now],
          "vllm:request_queue_time_seconds": [8.7 * now, 0.004],
          "vllm:time_to_first_token_seconds": [8.7 * now, 0.09],
        },
      }),
      ...more(step),
    });
  };
}

testFindings({
  "half of the tokens from the middle on": {
    load: after(0.5),
    class: "change",
    id: "change",
    // Half of the work in half of the span.
    stake: [0.22, 0.28],
    title:
      /2\.5 minutes into the run: vllm:generation_tokens_total fell by (?:49|50|51) %; with it vllm:inter_token/,
  },
}, {
  "a little less": { load: after(0.93), never: /change/ },
  "fewer requests": {
    load: (step) => {
      const now = step < 15 ? 1 : 0.5;
      return serving({
        devices: [decoder({ graphs: [{ name: "g", share: 0.9 * now, seconds: 0.011 }] })],
        engine: vllm({
          gauges: { "vllm:num_requests_running": 40 * now },
          counters: { "vllm:generation_tokens_total": 3480 * now },
          histograms: { "vllm:inter_token_latency_seconds": [3480 * now, 0.0115] },
        }),
      });
    },
    never: /change/,
  },
  "a single bad step": {
    load: (step) => after(1)(step === 20 ? 20 : 0),
    never: /change/,
  },
});

Deno.test("a change says where to read on: both spans meet at the instant", () => {
  const [found] = judged(after(0.5)).findings;
  const [, end, start] = /end=(\d+) and start=(\d+)/.exec(found!.verify) ?? [];
  assert.equal(end, start);
  assert.equal(Number(end), 1_795_000_000 + 150);
});
