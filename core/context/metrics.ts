/** The section of metrics that matter: number and course; constant ones as a count. */

import { fenced, named } from "../quoted.ts";
import type { Course, InstanceFacts } from "../facts/mod.ts";
import type { SectionText } from "./section_text.ts";
import { labelsOf, type Subject } from "./subject.ts";
import { number, row, tagsByName } from "./words.ts";

/** Points of a course. */
const POINTS = 6;
/** Rows at most. */
const MOST = 40;
/** Relative change below which a course is constant, and below which one is that no finding names. */
const CONSTANT = 0.02;
const CONSTANT_UNNAMED = 0.1;
/** Metrics that change all the time without a meaning for a workload. */
const NOISE =
  /^(?:profiler_|host_load_average$|host_cpu_mode_percent$|process_|gpu_pcie_throughput_)|_distribution$/;
/** Processes that use less of a processor have no rows. */
const IDLE_CPUS = 0.02;

interface Line {
  facts: InstanceFacts;
  course: Course;
  values: (number | null)[];
  known: number[];
  weight: number;
}

/** Metrics. */
export function metricsSection(subject: Subject): SectionText {
  const { instances, findings } = subject;
  const told = new Set(
    findings.findings.flatMap(({ evidence }) => evidence.map(({ metric }) => metric)),
  );
  let constant = 0;
  const lines = instances.flatMap((facts): Line[] => {
    const idle = idlePids(facts);
    return facts.courses.flatMap((course) => {
      const line = idle.has(course.tags["process.pid"]) ? null : lineOf(facts, course, told);
      if (line === null) constant++;
      return line ?? [];
    });
  }).sort((a, b) => b.weight - a.weight).slice(0, MOST);
  const startup = instances.some(({ span }) => span.startup_seconds > 0) ? ", after start-up" : "";
  const labelOf = labelsOf(instances);
  const on = (facts: InstanceFacts) => instances.length > 1 ? ` on ${labelOf(facts)}` : "";
  const rows = lines.map(({ facts, course, values, known, weight }) => ({
    text: row(
      `${fenced(course.metric, 80)}${tagsOf(facts, course)}${on(facts)}`,
      course.of === "rate" ? "a second" : course.of === "mean" ? "mean of values" : "level",
      number(known[0]),
      number(known.at(-1)),
      number(Math.min(...known)),
      number(Math.max(...known)),
      pointsOf(values),
    ),
    weight,
  }));
  return {
    section: "metrics",
    title: "Metrics that change",
    blocks: [{
      lead: [
        `Courses of ${
          number(stepSeconds(instances))
        } s a point${startup}; ${constant} series are constant, idle or of one value only.`,
        ...(rows.length > 0
          ? [row("metric", "number", "first", "last", "min", "max", `at most ${POINTS} points`)]
          : []),
      ],
      rows,
      of: "metrics",
      ...(rows.length === 0 && { weight: 100 }),
    }],
  };
}

/** Seconds of a step, of the longest of all instances. */
function stepSeconds(instances: readonly InstanceFacts[]): number {
  return Math.max(0, ...instances.flatMap(({ steps }) => steps.map(({ seconds }) => seconds)));
}

/** Processes that do next to nothing. */
function idlePids({ processes }: InstanceFacts): ReadonlySet<string | null | undefined> {
  const idle = processes.filter(({ user_cpus, system_cpus }) =>
    (user_cpus ?? 0) + (system_cpus ?? 0) < IDLE_CPUS
  );
  return new Set(idle.map(({ pid }) => pid));
}

/** A course that changes; `null` for one that does not. */
function lineOf(facts: InstanceFacts, course: Course, told: ReadonlySet<string>): Line | null {
  const isNamed = told.has(course.metric);
  if (NOISE.test(course.metric) && !isNamed) return null;
  const values = course.values.slice(facts.first_steady_step);
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const min = Math.min(...known);
  const max = Math.max(...known);
  const size = Math.max(Math.abs(min), Math.abs(max));
  const least = isNamed ? CONSTANT : CONSTANT_UNNAMED;
  if (size === 0 || (max - min) / size < least) return null;
  const trend = Math.abs(known.at(-1)! - known[0]!) / size;
  const weight = (isNamed ? 150 : 90) + 20 * trend + 10 * (max - min) / size;
  return { facts, course, values, known, weight };
}

function pointsOf(values: readonly (number | null)[]): string {
  const count = Math.min(POINTS, values.length);
  return Array.from(
    { length: count },
    (_, at) => number(values[Math.round(at * (values.length - 1) / Math.max(1, count - 1))]),
  ).join(" ");
}

/** Tags of a series; a device by its index. */
function tagsOf({ devices }: InstanceFacts, { tags }: Course): string {
  const own = tagsByName(tags).filter(([name]) => name !== "device.bus_id")
    .map(([name, value]) => {
      const index = name === "device.uuid" && devices.find(({ uuid }) => uuid === value)?.index;
      return typeof index === "number"
        ? `device=${index}`
        : `${named(name, 40)}=${named(value, 40)}`;
    });
  return own.length > 0 ? `{${own.join(",")}}` : "";
}
