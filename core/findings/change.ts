/**
 * Changes within the span: a rate of work that is lower from an instant on. The point is where two means
 * differ most (the largest t of Welch's test, as in E-Divisive with two segments).
 */

import { named } from "../quoted.ts";
import type { Course, InstanceFacts } from "../facts/mod.ts";
import { tagsKey } from "../tags.ts";
import { runningMetrics } from "./courses.ts";
import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import { digits, mean, percent, sum } from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Steps on each side of a change. */
const SIDE = 4;
/** Largest t of a split that noise gives, with some hundred courses of 30 steps looked at. */
const LEAST_T = 8;
/** A smaller change is not worth a word. */
const LEAST_CHANGE = 0.15;
/** Courses that moved with it are named up to this number. */
const NAMED = 4;

/** Rates of work: their fall is a loss. */
const WORK =
  /^(?:gpu_busy_nanoseconds|(?:vllm|sglang|tgi|llamacpp)[:_].*(?:generation_tokens_total|tokens_predicted_total))$/;
/** Courses that may say why. */
const WITH =
  /^(?:.*(?:inter_token_latency|time_per_output_token|time_to_first_token|queue_time)_seconds$|gpu_(?:clock_sm|temperature|power_usage|power_management|throttled|memory_used|pcie|sm_util|tensor|dram)|host_(?:cpu_usage|memory_usage|swap|pressure_stall_percent|disk_read)|.*(?:num_requests_|num_running|num_queue|cache_usage|token_usage|num_preemptions))/;

interface Split {
  course: Course;
  at: number;
  before: number;
  after: number;
  t: number;
}

/** The rule. */
export const change: Rule = {
  id: "change",
  judge(facts): Judgement {
    const metrics = runningMetrics(facts);
    const asked = facts.courses.filter(({ metric }) => metrics.has(metric));
    const found = workCourses(facts)
      .flatMap((course) => split(facts, course) ?? [])
      .filter(({ before, after }) => after < before * (1 - LEAST_CHANGE))
      .filter((one) => !isDemand(facts, { ...one, asked }))
      .sort((a, b) => b.t - a.t);
    const [worst] = found;
    return worst ? { ...NOTHING, findings: [finding(facts, worst)] } : NOTHING;
  },
};

/** Rates of work, each the sum of its processes: one that ends and is followed by another is no change. */
function workCourses({ courses }: InstanceFacts): Course[] {
  const sums = new Map<string, Course>();
  for (const course of courses) {
    if (!WORK.test(course.metric)) continue;
    const { "process.pid": _pid, ...tags } = course.tags;
    const key = `${course.metric}\n${tagsKey(tags)}`;
    const known = sums.get(key);
    const values = course.values.map((value, at) => {
      const other = known?.values[at] ?? null;
      return value === null ? other : value + (other ?? 0);
    });
    sums.set(key, { ...course, tags, values });
  }
  return [...sums.values()];
}

/** The split of the steady steps with the largest t; `null` where none is large enough. */
function split({ first_steady_step }: InstanceFacts, course: Course): Split | null {
  const values = course.values.slice(first_steady_step).map((value) => value ?? 0);
  let best: Split | null = null;
  for (let at = SIDE; at <= values.length - SIDE; at++) {
    const [a, b] = [values.slice(0, at), values.slice(at)];
    const [before, after] = [mean(a), mean(b)];
    const error = Math.sqrt(variance(a, before) / a.length + variance(b, after) / b.length);
    const t = Math.abs(after - before) / Math.max(error, 1e-3 * Math.abs(before), 1e-12);
    if (t >= LEAST_T && t > (best?.t ?? 0)) {
      best = { course, at: at + first_steady_step, before, after, t };
    }
  }
  return best;
}

function variance(values: readonly number[], around: number): number {
  return sum(values.map((value) => (value - around) ** 2)) / Math.max(1, values.length - 1);
}

function finding(facts: InstanceFacts, { course, at, before, after }: Split): Finding {
  const step = facts.steps[at]!;
  const lost = 1 - after / before;
  const seconds = facts.steps.slice(facts.first_steady_step).map((one) => one.seconds);
  const later = sum(facts.steps.slice(at).map((one) => one.seconds)) / Math.max(1e-9, sum(seconds));
  const minutes = Number(step.from_ns - facts.span.ran.from_ns) / 60e9;
  const moved = facts.courses.filter((other) => WITH.test(other.metric))
    .flatMap((other) => movedAt(facts, other, at) ?? [])
    .sort((a, b) => Math.abs(b.ratio) - Math.abs(a.ratio));
  const each = [...new Map(moved.map((one) => [one.course.metric, one])).values()].slice(0, NAMED);
  return {
    id: "change",
    class: "change",
    title:
      `Change ${digits(minutes)} minutes into the run: ${named(course.metric, 100)} fell by ${
        percent(lost)
      }` +
      (each.length > 0
        ? `; with it ${
          each.map(({ course, before, after }) =>
            `${named(course.metric, 100)} went from ${digits(before)} to ${digits(after)}`
          ).join(", ")
        }`
        : ""),
    share_at_stake: lost * later,
    confidence: each.length > 0 ? "high" : "medium",
    doubt: each.length > 0
      ? "what moved at the same time may be the cause or a consequence"
      : "nothing else that is measured moved at the same time: less may have been asked for",
    evidence: [
      {
        metric: course.metric,
        tags: course.tags,
        value: before,
        unit: "a second before",
        what: "mean of the steps before the change",
      },
      {
        metric: course.metric,
        tags: course.tags,
        value: after,
        unit: "a second after",
        what: "mean of the steps after it",
      },
      ...each.map(({ course, after }) => ({
        metric: course.metric,
        tags: course.tags,
        value: after,
        unit: "after",
        what: "moved at the same time",
      })),
    ].slice(0, 6),
    remedies: [
      "look for what happened then: a release, another job on the host, another kind of requests, heat",
    ],
    verify: `read the spans before and after it by themselves: end=${
      step.from_ns / 1_000_000_000n
    } and start=${step.from_ns / 1_000_000_000n}`,
    where: "device.uuid" in course.tags ? named(course.tags["device.uuid"]!, 60) : "",
    explains: [],
  };
}

/** Whether requests in the engines fell as much as the work did. */
function isDemand(
  facts: InstanceFacts,
  { at, before, after, asked }: Split & { asked: readonly Course[] },
): boolean {
  return asked.some((course) => {
    const moved = movedAt(facts, course, at);
    return moved !== null && moved.after < moved.before &&
      moved.after / moved.before < 1.15 * (after / before) + 0.05;
  });
}

function movedAt(facts: InstanceFacts, course: Course, at: number) {
  const before = known(course.values.slice(facts.first_steady_step, at));
  const after = known(course.values.slice(at));
  if (before.length < 2 || after.length < 2) return null;
  const [a, b] = [mean(before), mean(after)];
  const error = Math.sqrt(variance(before, a) / before.length + variance(after, b) / after.length);
  const ratio = (b - a) / Math.max(Math.abs(a), Math.abs(b), 1e-12);
  return Math.abs(b - a) > LEAST_T / 2 * Math.max(error, 1e-12) && Math.abs(ratio) > 0.05
    ? { course, before: a, after: b, ratio }
    : null;
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}
