/** Capture: what was not measured, so that its absence is not taken for zero. */

import { fenced } from "../quoted.ts";
import type { InstanceFacts } from "../facts/mod.ts";
import { type Judgement, NOTHING, type NotKnown } from "./finding.ts";
import type { Rule } from "./rule.ts";

/** A span shorter than this may be start-up alone. */
const SHORT_SECONDS = 30;

/** The rule. */
export const capture: Rule = {
  id: "capture",
  judge(facts): Judgement {
    return { ...NOTHING, not_known: [...gpu(facts), ...telemetry(facts), ...short(facts)] };
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
  const ran = Number(span.ran.to_ns - span.ran.from_ns) / 1e9;
  if (span.steady_seconds >= SHORT_SECONDS) return [];
  return [{
    rule: "capture",
    missing: `only ${Math.round(span.steady_seconds)} s of ${
      Math.round(ran)
    } s are covered, which may be start-up alone`,
    how: "measure a minute or more of steady work",
    is_decisive: true,
  }];
}
