/** Courses: each series as one number a step. */

import { rounded } from "../sum.ts";
import type { Series } from "../series/mod.ts";
import type { Course } from "./instance_facts.ts";
import type { MeasuredStep } from "./reading.ts";

const OF = { gauge: "level", counter: "rate", histogram: "mean" } as const;

/** The courses of all series but profiles, in the order of their names. */
export function coursesOf(steps: readonly MeasuredStep[]): Course[] {
  const courses = new Map<string, Course>();
  for (const [at, { window, seconds }] of steps.entries()) {
    window.series.forEach((series, key) => {
      if (series.type === "profile") return;
      let course = courses.get(key);
      if (!course) {
        const values = new Array<number | null>(steps.length).fill(null);
        course = { metric: series.name, tags: series.tags, of: OF[series.type], values };
        courses.set(key, course);
      }
      course.values[at] = valueOf(series, seconds);
    });
  }
  return [...courses].sort(([a], [b]) => a < b ? -1 : 1).map(([, course]) => course);
}

function valueOf(series: Series, seconds: number): number | null {
  switch (series.type) {
    case "gauge":
      return Number(series.value);
    case "counter":
      return seconds > 0 ? rounded(series.total) / seconds : null;
    case "histogram":
      return series.count > 0 ? rounded(series.sum) / series.count : null;
    case "profile":
      return null;
  }
}
