/** The facts of one instance, made from what was read of it. */

import { absorbEntries, newestFirst, noEntries } from "../entries.ts";
import { type Interval, joinInterval, overlap } from "../gaps.ts";
import { rounded } from "../sum.ts";
import { earlier, nsFromTs, SECOND_NS } from "../time.ts";
import { absorb, emptyWindow, type Window } from "../window.ts";
import { capturesOf, lossesOf } from "./captures.ts";
import { coursesOf } from "./courses.ts";
import { devicesOf } from "./devices.ts";
import { enginesOf } from "./engines.ts";
import type { InstanceFacts } from "./instance_facts.ts";
import { hostOf, processesOf } from "./processes.ts";
import { type InstanceRead, type MeasuredStep, Reading, type StepRead } from "./reading.ts";
import { findStartUp, type StartUp } from "./startup.ts";
import { workloadOf } from "./workload.ts";

/** A span that begins this soon after the instance did contains its start-up. */
const START_SECONDS = 5;

/** An instance that was seen so much later than its newest window has not been read to its end. */
const UNREAD_NS = 2n * SECOND_NS;

/** A step shorter than this has rates that mean nothing. */
const SHORT_SECONDS = 0.5;

/** The facts of an instance of which something was read. */
export function instanceFacts(read: InstanceRead): InstanceFacts {
  const { instance, asked, is_running } = read;
  const steps = joinShort(read.steps.map(measured));
  const known = {
    from_ns: steps[0]?.from_ns ?? asked.from_ns,
    to_ns: steps.at(-1)?.to_ns ?? asked.from_ns,
  };
  const ran = spanOfRun(read, known);
  const unread = known.to_ns < ran.to_ns ? [{ from_ns: known.to_ns, to_ns: ran.to_ns }] : [];
  const startUp = startUpOf(read, steps);
  const before = steps.slice(0, startUp.first);
  const after = steps.slice(startUp.first);
  const steady = new Reading(after, merged(after, known.to_ns));
  const workload = workloadOf(instance.attributes);
  const entries = noEntries();
  for (const { window } of steps) absorbEntries(entries, window);
  return {
    instance,
    span: {
      asked,
      ran,
      steady: { from_ns: after[0]?.from_ns ?? known.to_ns, to_ns: known.to_ns },
      covered_seconds: secondsOf(steps),
      steady_seconds: steady.seconds,
      startup_seconds: secondsOf(before),
      startup_reason: startUp.reason,
      gaps: [...gapsOf(read.steps), ...unread],
      is_running,
    },
    workload,
    captures: capturesOf(steady),
    losses: lossesOf(steady),
    devices: devicesOf(steady, read.labelOf),
    processes: processesOf(steady),
    host: hostOf(steady, instance.tags["host.name"]),
    engines: enginesOf(steady, workload),
    errors: newestFirst(entries).errors,
    steps: steps.map(({ from_ns, to_ns, seconds }) => ({ from_ns, to_ns, seconds })),
    first_steady_step: startUp.first,
    courses: coursesOf(steps),
  };
}

/**
 * The part of the span that was asked for in which the instance ran, as it says itself: what was read may
 * end before it, where windows that are missing are waited for.
 */
function spanOfRun({ instance, asked }: InstanceRead, known: Interval): Interval {
  const last_ns = earlier(asked.to_ns, nsFromTs(instance.last_seen_ts));
  const isLonger = last_ns - known.to_ns > UNREAD_NS;
  return { from_ns: known.from_ns, to_ns: isLonger ? last_ns : known.to_ns };
}

/** Start-up is looked for where the span begins with the instance. */
function startUpOf(
  { instance, keepsStartUp, steps: [first] }: InstanceRead,
  steps: readonly MeasuredStep[],
): StartUp {
  if (!first) return { first: 0, reason: "nothing was read" };
  if (keepsStartUp) return { first: 0, reason: "all of the run was asked for" };
  const since = Number(first.window.from_ns / SECOND_NS) - instance.first_seen_ts;
  if (since > START_SECONDS) return { first: 0, reason: "the run began before the span" };
  return findStartUp(steps);
}

/**
 * Steps without very short ones, which are merged with the next, the last with the one before: the first
 * and the last window may be an instant.
 */
function joinShort(steps: readonly MeasuredStep[]): MeasuredStep[] {
  const joined: MeasuredStep[] = [];
  for (const step of steps) {
    const before = joined.at(-1);
    const isShortEnd = step === steps.at(-1) && step.seconds < SHORT_SECONDS;
    if (!before || (before.seconds >= SHORT_SECONDS && !isShortEnd)) joined.push(step);
    else {
      const seconds = before.seconds + step.seconds;
      const { from_ns } = before;
      joined[joined.length - 1] = {
        ...step,
        from_ns,
        seconds,
        window: merged([before, step], from_ns),
      };
    }
  }
  return joined;
}

/** A step with the seconds that its windows cover: as they say themselves, else their span without gaps. */
function measured({ window, gaps }: StepRead): MeasuredStep {
  const { from_ns, to_ns } = window;
  let covered_ns = 0;
  window.series.forEach((series) => {
    if (series.type === "counter" && series.name === "profiler_covered_nanoseconds") {
      covered_ns += rounded(series.total);
    }
  });
  if (covered_ns > 0) return { from_ns, to_ns, seconds: covered_ns / 1e9, window };
  let ns = to_ns - from_ns;
  for (const gap of gaps) {
    const missing = overlap(gap, { from_ns, to_ns });
    if (missing.to_ns > missing.from_ns) ns -= missing.to_ns - missing.from_ns;
  }
  return { from_ns, to_ns, seconds: Math.max(0, Number(ns) / 1e9), window };
}

function merged(steps: readonly MeasuredStep[], at_ns: bigint): Window {
  const window = emptyWindow(steps[0]?.from_ns ?? at_ns);
  for (const step of steps) absorb(window, step.window);
  return window;
}

function secondsOf(steps: readonly MeasuredStep[]): number {
  return steps.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** What is missing within steps, and between them where steps without windows were left out. */
function gapsOf(steps: readonly StepRead[]): Interval[] {
  const all = steps.flatMap(({ window, gaps }, at) => {
    const end_ns = steps[at - 1]?.window.to_ns ?? window.from_ns;
    return end_ns < window.from_ns ? [{ from_ns: end_ns, to_ns: window.from_ns }, ...gaps] : gaps;
  });
  const joined: Interval[] = [];
  for (const gap of all.sort((a, b) => Number(a.from_ns - b.from_ns))) {
    const last = joined.at(-1);
    if (!last || gap.to_ns > last.to_ns) joinInterval(joined, gap);
  }
  return joined;
}
