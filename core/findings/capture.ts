/** Capture: what was not measured, so that its absence is not taken for zero. */

import { fenced } from "../quoted.ts";
import type { InstanceFacts } from "../facts/mod.ts";
import { type Judgement, NOTHING, type NotKnown } from "./finding.ts";
import { percent, sum } from "./measures.ts";
import { isWithoutGpu } from "./no_gpu.ts";
import type { Rule } from "./rule.ts";

/** A span shorter than this may be start-up alone. */
const SHORT_SECONDS = 30;

/** Lost records below this share change no conclusion. */
const LOST_SHARE = 0.05;

/** What is said of a GPU where there is none to measure. */
const NO_GPU: NotKnown = {
  rule: "capture",
  missing:
    "there is no NVIDIA driver where service-run runs, and no process was seen to use a GPU: accelerators of other vendors are not measured",
  how:
    "if the work runs on such an accelerator, use its vendor's profiler; else nothing is missing",
  is_decisive: false,
};

/** What is said of a span without any window. */
const NOTHING_READ: NotKnown = {
  rule: "capture",
  missing: "nothing was measured in this span: no window of the run ends in it",
  how: "ask for a span in which the run was measured",
  is_decisive: true,
};

/** The rule. */
export const capture: Rule = {
  id: "capture",
  judge(facts): Judgement {
    if (facts.steps.length === 0) return { ...NOTHING, not_known: [NOTHING_READ] };
    return {
      ...NOTHING,
      not_known: [
        ...(isWithoutGpu(facts) ? [NO_GPU] : [...gpu(facts), ...lost(facts), ...telemetry(facts)]),
        ...engine(facts),
        ...short(facts),
      ],
    };
  },
};

function gpu(facts: InstanceFacts): NotKnown[] {
  if (facts.devices.some(({ activity }) => activity !== null)) return [];
  const states = facts.captures.filter(({ capture, is_captured }) =>
    capture === "gpu_kernels" && !is_captured
  );
  const refused = states.find(({ of, reason }) => of !== "" && reason !== null) ??
    states.find(({ reason }) => reason !== null);
  return [{
    rule: "capture",
    missing: `GPU activity was not captured${refused?.reason ? `: ${fenced(refused.reason)}` : ""}`,
    how: /another tool|holds CUPTI/.test(refused?.reason ?? "")
      ? "run again without the other profiler, until the work is steady"
      : "do what profiler_capture_state and its reason ask for, and run again",
    is_decisive: true,
  }];
}

/** Records that were lost: what is left is a sample that leaves out what came in bursts. */
function lost({ devices }: InstanceFacts): NotKnown[] {
  const shares = devices.flatMap(({ activity }) => {
    if (!activity || activity.lost_records === 0) return [];
    const { kernels, graphs, copies, lost_records } = activity;
    const taken = sum([...kernels, ...graphs, ...copies].map(({ times }) => times));
    return [lost_records / (lost_records + taken)];
  });
  const share = Math.max(0, ...shares);
  if (share < LOST_SHARE) return [];
  return [{
    rule: "capture",
    missing: `${percent(share)} of the GPU's records were lost, so that times are too small`,
    how:
      "measure with graphs traced whole (--cuda-graph-trace graph), or a shorter part of the work",
    is_decisive: share >= 0.5,
  }];
}

/** An engine whose metrics cannot be read: queues, cache and latencies are not known. */
function engine({ captures, engines }: InstanceFacts): NotKnown[] {
  const isDown = captures.some(({ capture, is_captured, reason }) =>
    capture === "engine_metrics" && !is_captured && !reason?.startsWith("no engine is known")
  );
  return isDown && engines.length === 0
    ? [{
      rule: "capture",
      missing: "the engine's own metrics (requests, queue, cache, latencies) were not captured",
      how:
        "start the engine with its metrics on (SGLang --enable-metrics, llama.cpp --metrics), and name their port with --metrics-port",
      is_decisive: false,
    }]
    : [];
}

function telemetry({ devices, captures }: InstanceFacts): NotKnown[] {
  if (devices.some(({ power_watts, utilization }) => power_watts ?? utilization)) return [];
  const state = captures.find(({ capture, is_captured }) =>
    capture === "gpu_devices" && !is_captured
  );
  return [{
    rule: "capture",
    missing: `device telemetry (utilization, power, clocks, memory) was not captured${
      state?.reason ? `: ${fenced(state.reason)}` : ""
    }`,
    how:
      "see that the driver's library (libnvidia-ml.so.1, or AMD's sysfs) is visible where service-run runs",
    is_decisive: false,
  }];
}

function short({ span }: InstanceFacts): NotKnown[] {
  if (span.steady_seconds >= SHORT_SECONDS) return [];
  return [{
    rule: "capture",
    missing: `only ${
      Math.round(span.steady_seconds)
    } s of work are measured, which may be start-up alone`,
    how: "measure a minute or more of steady work",
    is_decisive: true,
  }];
}
