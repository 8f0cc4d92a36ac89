/** Scraped families as series: totals across restarts, changed buckets, refused values. */

import assert from "node:assert/strict";
import { type Metric, snapshot } from "@service/core";
import { scan } from "./exposition.ts";
import { FamilyReadings } from "./families.ts";
import type { FirstReading } from "../cumulative.ts";
import { Recorder } from "../recorder.ts";
import { Accumulator } from "../../watch/accumulator.ts";

const START_SECONDS = 1_000;

/** A target whose pages are recorded one after the other. */
function target(first: FirstReading = "increase") {
  const readings = new FamilyReadings({
    tags: {},
    url: "http://x/metrics",
    start_seconds: START_SECONDS,
  });
  const accumulator = new Accumulator(0n);
  let now_ns = 0n;
  const recorder = new Recorder(0n, () => now_ns);
  const names = (metric: Metric) =>
    `${metric.name}${
      Object.entries(metric.tags).map(([tag, value]) => ` ${tag}=${value}`).join("")
    }`;
  return {
    refused: 0,
    async shows(page: string, sockets?: string) {
      now_ns++;
      const exposition = scan(page, { openMetrics: page.includes("# EOF") });
      const options = { first, sockets, pace: () => {} };
      this.refused += await readings.record(exposition, recorder, options);
      accumulator.add(recorder.cut(now_ns));
    },
    get metrics(): Record<string, Metric["stats"]> {
      const { metrics } = snapshot(accumulator.total, { context: {} });
      return Object.fromEntries(
        metrics.filter(({ name }) => !name.startsWith("profiler_"))
          .map((metric) => [names(metric), metric.stats]),
      );
    },
  };
}

Deno.test("each type becomes what the interface has for it", async () => {
  const families = target();
  await families.shows(`# TYPE c counter
c_total{a="b",none=""} 3
# TYPE g gauge
g 1.5
# TYPE i info
i_info{version="1"} 1
# TYPE s stateset
s{s="on"} 1
s{s="off"} 0
# TYPE u unknown
u 7
# TYPE h histogram
h_bucket{le="1"} 2
h_bucket{le="2"} 6
h_bucket{le="+Inf"} 10
h_count 10
h_sum 30
# TYPE q summary
q{quantile="0.5"} 4
q_count 2
q_sum 9
# TYPE gh gaugehistogram
gh_bucket{le="1"} 2
gh_bucket{le="+Inf"} 5
gh_gcount 5
gh_gsum 8
# EOF
`);
  assert.deepEqual(families.metrics, {
    "c_total a=b": { total: 3 },
    "g": { value: 1.5 },
    "i_info version=1": { value: 1 },
    "s s=on": { value: 1 },
    "s s=off": { value: 0 },
    "u": { value: 7 },
    "h": { count: 10, sum: 30, min: null, max: null, mean: 3, p50: 1.75, p95: 2 },
    "q": { count: 2, sum: 9, min: null, max: null, mean: 4.5, p50: null, p95: null },
    "gh_bucket le=1": { value: 2 },
    "gh_bucket le=+Inf": { value: 5 },
    "gh_gcount": { value: 5 },
    "gh_gsum": { value: 8 },
  });
  assert.equal(families.refused, 0);
});

function histogram(one: number, two: number, all: number, sum: number): string {
  return `# TYPE h histogram\nh_bucket{le="1"} ${one}\nh_bucket{le="2"} ${two}\n` +
    `h_bucket{le="+Inf"} ${all}\nh_sum ${sum}\nh_count ${all}\n`;
}

Deno.test("a restart adds to what was: no total ever falls", async () => {
  const families = target();
  let before = 0;
  for (const [counted, expected] of [[5, 5], [9, 9], [2, 11], [2, 11], [0, 11], [4, 15]] as const) {
    await families.shows(
      `# TYPE c counter\nc ${counted}\n${histogram(0, counted, counted, counted * 1.5)}`,
    );
    const { c, h } = families.metrics;
    assert.deepEqual(c, { total: expected });
    assert("count" in h! && h.count === expected && h.sum === expected * 1.5);
    assert(expected >= before);
    before = expected;
  }
});

/** Pages of one target, before and after a restart in which its counts have passed those of before. */
const PASSED: [told: string, page: (start: number, counted: number) => string][] = [
  [
    "process_start_time_seconds",
    (start, counted) => `process_start_time_seconds ${start}\n# TYPE c counter\nc ${counted}\n`,
  ],
  [
    "_created of OpenMetrics",
    (start, counted) => `# TYPE c counter\nc_total ${counted}\nc_created ${start}\n# EOF\n`,
  ],
  [
    "_created as a gauge",
    (start, counted) =>
      `# TYPE c_total counter\nc_total{a="b"} ${counted}\n` +
      `# TYPE c_created gauge\nc_created{a="b"} ${start}\n`,
  ],
  [
    "_created of a histogram",
    (start, counted) =>
      histogram(0, counted, counted, counted) + `# TYPE h_created gauge\nh_created ${start}\n`,
  ],
];
for (const [told, page] of PASSED) {
  Deno.test(`a restart told by ${told} adds all, also what has passed the old count`, async () => {
    const families = target();
    const counted = () => {
      const stats = families.metrics["c"] ?? families.metrics["c_total"] ??
        families.metrics["c_total a=b"] ?? families.metrics["h"];
      assert(stats);
      return "total" in stats ? stats.total : "count" in stats && stats.count;
    };
    await families.shows(page(START_SECONDS + 1.25, 4));
    await families.shows(page(START_SECONDS + 1.25, 10));
    assert.equal(counted(), 10);
    await families.shows(page(START_SECONDS + 3.5, 12));
    assert.equal(counted(), 22);
    await families.shows(page(START_SECONDS + 3.5, 13));
    assert.equal(counted(), 23);
    await families.shows(page(START_SECONDS + 3.97, 13));
    assert.equal(counted(), 36);
  });
}

const SOCKETS: [
  what: string,
  sockets: [string, string],
  counts: [number, number],
  total: number,
][] = [
  ["where it listens at another socket and a count falls, all count anew", ["1", "2"], [9, 3], 10],
  ["where it listens at another socket and none falls, it is the same process", ["1", "1,2"], [
    9,
    10,
  ], 5],
  ["where it listens at the same socket and a count falls, that one counts anew", ["1", "1"], [
    9,
    3,
  ], 5],
];
for (const [what, [before, now], counts, total] of SOCKETS) {
  Deno.test(`of a target that tells no start: ${what}`, async () => {
    const families = target();
    const page = (count: number) => `# TYPE a counter\na ${count}\n# TYPE b counter\nb 5\n`;
    await families.shows(page(counts[0]), before);
    await families.shows(page(counts[1]), now);
    assert.deepEqual(families.metrics.b, { total });
  });
}

Deno.test("a restart of a target that was there before adds all of the new process", async () => {
  const families = target("base");
  const page = (start: number, counted: number) =>
    `process_start_time_seconds ${start}\n# TYPE c counter\nc ${counted}\n`;
  await families.shows(page(START_SECONDS - 50.25, 100));
  await families.shows(page(START_SECONDS - 50.25, 103));
  await families.shows(page(START_SECONDS + 50, 104));
  assert.deepEqual(families.metrics.c, { total: 107 });
});

const SAME_START: [what: string, starts: number[]][] = [
  ["the clock of the machine is set", [1_001.25, 1_002.25, 8_002.25]],
  ["its digits are cut", [1_001.25, 1_001.2504, 1_001.2499]],
  ["it is rounded", [1_001, 1_002, 1_001]],
  ["it tells none for a time", [1_001.25, NaN, 1_001.25]],
];
for (const [what, starts] of SAME_START) {
  Deno.test(`a start is still the same where ${what}`, async () => {
    const families = target();
    for (const [i, start] of starts.entries()) {
      await families.shows(
        `${start ? `process_start_time_seconds ${start}\n` : ""}# TYPE c counter\nc ${i + 1}\n`,
      );
    }
    assert.deepEqual(families.metrics.c, { total: 3 });
  });
}

Deno.test("a page with the starts of many processes tells none", async () => {
  const families = target();
  const starts = (...jobs: string[]) =>
    jobs.map((job, i) => `process_start_time_seconds{job="${job}"} ${1_001.3 + i / 7}\n`).join("");
  for (const jobs of [["a", "b"], ["b", "a"]]) {
    await families.shows(`${starts(...jobs)}# TYPE c counter\nc 7\n`);
  }
  assert.deepEqual(families.metrics.c, { total: 7 });
});

Deno.test("a histogram one of whose buckets falls has restarted as a whole", async () => {
  const families = target();
  await families.shows(histogram(5, 5, 5, 5));
  await families.shows(histogram(0, 6, 6, 12));
  const { h } = families.metrics;
  assert("count" in h! && h.count === 11 && h.sum === 17);
});

Deno.test("a change of the buckets keeps the bounds that both have, and every count", async () => {
  const families = target();
  await families.shows(histogram(1, 2, 3, 6));
  await families.shows(histogram(2, 3, 5, 11).replace('h_bucket{le="1"}', 'h_bucket{le="1.5"}'));
  const { h } = families.metrics;
  assert("count" in h! && h.count === 5 && h.sum === 11);
});

Deno.test("a target that was there before counts from its first scrape, what is new in it from zero", async () => {
  const families = target("base");
  await families.shows("# TYPE c counter\nc 100\n");
  await families.shows('# TYPE c counter\nc 103\n# TYPE d counter\nd{a="new"} 2\n');
  assert.deepEqual(families.metrics, { c: { total: 3 }, "d a=new": { total: 2 } });
});

Deno.test("after a page that was cut, what appears is not taken for new", async () => {
  const families = target("base");
  await families.shows("# TYPE c counter\nc 100\n# TYPE d counter\nd ");
  await families.shows("# TYPE c counter\nc 103\n# TYPE d counter\nd 50\n");
  assert.deepEqual(families.metrics, { c: { total: 3 }, d: { total: 0 } });
});

for (const [started, total] of [[START_SECONDS - 60, 0], [START_SECONDS + 1, 7]]) {
  Deno.test(`what a target says of its start decides: at ${started} s of ${START_SECONDS}`, async () => {
    for (const first of ["increase", "base"] as const) {
      const families = target(first);
      await families.shows(`process_start_time_seconds ${started}\n# TYPE c counter\nc 7\n`);
      assert.deepEqual(families.metrics.c, { total });
      const other = target(first);
      await other.shows(`# TYPE c counter\nc_total 7\nc_created ${started}\n# EOF\n`);
      assert.deepEqual(other.metrics, { c_total: { total } });
    }
  });
}

Deno.test("what is not finite is not published, and spoils nothing later", async () => {
  const families = target();
  await families.shows(
    `# TYPE c counter\nc NaN\nd NaN\ne -Inf\n${histogram(1, 2, 3, NaN)}# TYPE f counter\nf +Inf\n`,
  );
  assert.deepEqual(families.metrics, {});
  await families.shows(`# TYPE c counter\nc 4\n${histogram(1, 2, 3, 6)}`);
  assert.deepEqual(Object.keys(families.metrics), ["c", "h"]);
  assert.deepEqual(families.metrics.c, { total: 4 });
});

const REFUSED: [string, string][] = [
  ["a histogram without a sum", '# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_count 1\n'],
  ["buckets that fall", histogram(3, 2, 3, 3)],
  ["half an observation", histogram(1, 1.5, 2, 3)],
  ["a counter below zero", "# TYPE c counter\nc -1\n"],
  ["too many labels", `g{${Array.from({ length: 65 }, (_, i) => `l${i}="x"`)}} 1\n`],
  ["too long a value", `g{a="${"x".repeat(70_000)}"} 1\n`],
];
for (const [what, page] of REFUSED) {
  Deno.test(`${what} is refused and counted`, async () => {
    const families = target();
    await families.shows(page);
    assert.deepEqual(families.metrics, {});
    assert.equal(families.refused, 1);
  });
}

Deno.test("a name of our own is kept apart", async () => {
  const families = target();
  await families.shows("# TYPE process_threads gauge\nprocess_threads 3\n");
  assert.deepEqual(families.metrics, {
    "process_threads metrics.url=http://x/metrics": { value: 3 },
  });
});
