/** Start-up: the steps before a workload does what it was started for. */

import { rounded } from "../sum.ts";
import type { MeasuredStep } from "./reading.ts";

/** Where start-up ends. */
export interface StartUp {
  /** Index of the first step after it. */
  first: number;
  /** Why, as a sentence. */
  reason: string;
}

/** Counters of engines that count what they produce. */
const PRODUCED =
  /^(?:vllm|sglang|llamacpp|tgi|trtllm)[:_].*(?:generation_tokens|tokens_predicted|prompt_tokens)_total$/;

/** Signals of work, the surest first: how a step shows it, and its name. */
const SIGNALS: readonly { name: string; of: (step: MeasuredStep) => number }[] = [
  { name: "the engine's tokens", of: rateOf((name) => PRODUCED.test(name)) },
  { name: "GPU work", of: rateOf((name) => name === "gpu_busy_nanoseconds") },
  { name: "GPU utilization", of: gaugeOf("gpu_utilization_percent") },
];

/** A step belongs to the work once it reaches this share of what is usual later. */
const USUAL_SHARE = 0.5;
/** A step that reaches this share is all work. */
const WHOLE_SHARE = 0.9;

/**
 * The end of start-up: the first step that reaches half of what three quarters of the steps stay below
 * (or of the greatest, where those have nothing to do). A step in which it ends is left out with it.
 */
export function findStartUp(steps: readonly MeasuredStep[]): StartUp {
  for (const { name, of } of SIGNALS) {
    const values = steps.map(of);
    const usual = quantileOf(values, 0.75) || Math.max(0, ...values);
    if (usual <= 0) continue;
    const begins = values.findIndex((value) => value >= USUAL_SHARE * usual);
    // A step that reaches less than the usual is a part of start-up, and a part of the work.
    const isMixed = values[begins]! < WHOLE_SHARE * usual && begins + 1 < steps.length;
    const first = isMixed ? begins + 1 : begins;
    if (first === 0) return { first: 0, reason: `${name} was there from the first step on` };
    return { first, reason: `until ${name} reached half of the usual amount` };
  }
  return { first: 0, reason: "no signal of work tells start-up apart" };
}

function rateOf(isWanted: (name: string) => boolean): (step: MeasuredStep) => number {
  return ({ window, seconds }) => {
    let sum = 0;
    window.series.forEach((series) => {
      if (series.type === "counter" && isWanted(series.name)) sum += rounded(series.total);
    });
    return seconds > 0 ? sum / seconds : 0;
  };
}

function gaugeOf(name: string): (step: MeasuredStep) => number {
  return ({ window }) => {
    let sum = 0;
    window.series.forEach((series) => {
      if (series.type === "gauge" && series.name === name) sum += Number(series.value);
    });
    return sum;
  };
}

function quantileOf(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}
