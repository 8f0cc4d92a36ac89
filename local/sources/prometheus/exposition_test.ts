/** Pages of metrics in both of Prometheus's formats: valid, cut, malformed and random. */

import assert from "node:assert/strict";
import { MAX_SERIES } from "@service/core/limits";
import fc from "fast-check";
import { type Family, scan } from "./exposition.ts";

/** A family in short: name, type, and of each series its labels and its samples. */
function brief({ name, type, series }: Family) {
  return [
    `${name} ${type}`,
    ...series.map(({ labels, points }) => [
      Object.entries(labels).map(([label, value]) => `${label}=${value}`).join(","),
      ...points.map(({ suffix, bound, value }) => `${suffix}${bound ?? ""}:${value}`),
    ]),
  ];
}

Deno.test("the page that documents 0.0.4 is read as it says", () => {
  const { families, fault } = scan(
    String.raw`# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400"}    3 1395066363000

# Escaping in label values:
msdos_file_access_time_seconds{path="C:\\DIR\\FILE.TXT",error="Cannot find file:\n\"FILE.TXT\""} 1.458255915e9

# Minimalistic line:
metric_without_timestamp_and_labels 12.47

# A weird metric from before the epoch:
something_weird{problem="division by zero"} +Inf -3982045

# TYPE http_request_duration_seconds histogram
http_request_duration_seconds_bucket{le="0.05"} 24054
http_request_duration_seconds_bucket{le="1"} 133988
http_request_duration_seconds_bucket{le="+Inf"} 144320
http_request_duration_seconds_sum 53423
http_request_duration_seconds_count 144320

# TYPE rpc_duration_seconds summary
rpc_duration_seconds{quantile="0.01"} 3102
rpc_duration_seconds{quantile="0.99"} 76656
rpc_duration_seconds_sum 1.7560473e+07
rpc_duration_seconds_count 2693
`,
  );
  assert.equal(fault, undefined);
  assert.deepEqual(families.map(brief), [
    ["http_requests_total counter", ["code=200,method=post", ":1027"], [
      "code=400,method=post",
      ":3",
    ]],
    ["msdos_file_access_time_seconds unknown", [
      'error=Cannot find file:\n"FILE.TXT",path=C:\\DIR\\FILE.TXT',
      ":1458255915",
    ]],
    ["metric_without_timestamp_and_labels unknown", ["", ":12.47"]],
    ["something_weird unknown", ["problem=division by zero", ":Infinity"]],
    ["http_request_duration_seconds histogram", [
      "",
      "_bucket0.05:24054",
      "_bucket1:133988",
      "_bucketInfinity:144320",
      "_sum:53423",
      "_count:144320",
    ]],
    ["rpc_duration_seconds summary", [
      "",
      "0.01:3102",
      "0.99:76656",
      "_sum:17560473",
      "_count:2693",
    ]],
  ]);
});

Deno.test("every type of OpenMetrics is read, with units, exemplars and instants of creation", () => {
  const { families, fault } = scan(
    `# TYPE c_seconds counter
# UNIT c_seconds seconds
# HELP c_seconds Some \\"help\\" \\\\ with a\\nbreak
c_seconds_total{a="b"} 17.0 1520879607.789 # {id="x\\"} 9"} 0.5 1520879607.1
c_seconds_created{a="b"} 1520430000.123
# TYPE g gauge
g -1.5e-3 123
# TYPE h histogram
h_bucket{le="1.0"} 1 # {} 0.4
h_bucket{le="+Inf"} 2
h_count 2
h_sum 5.0
h_created 1520430000.123
# TYPE gh gaugehistogram
gh_bucket{le="+Inf"} 42
gh_gcount 42
gh_gsum 3289.3
# TYPE i info
i_info{version="8.2.7"} 1
# TYPE s stateset
s{s="on"} 1
s{s="off"} 0
# TYPE q summary
q{quantile="0.95"} NaN
q_count 2
q_sum 3
# TYPE u unknown
u 42
# EOF
`,
    { openMetrics: true },
  );
  assert.equal(fault, undefined);
  assert.equal(families[0]!.unit, "seconds");
  assert.deepEqual(families.map(brief), [
    ["c_seconds counter", ["a=b", "_total:17", "_created:1520430000.123"]],
    ["g gauge", ["", ":-0.0015"]],
    ["h histogram", [
      "",
      "_bucket1:1",
      "_bucketInfinity:2",
      "_count:2",
      "_sum:5",
      "_created:1520430000.123",
    ]],
    ["gh gaugehistogram", ["", "_bucketInfinity:42", "_gcount:42", "_gsum:3289.3"]],
    ["i info", ["version=8.2.7", "_info:1"]],
    ["s stateset", ["s=on", ":1"], ["s=off", ":0"]],
    ["q summary", ["", "0.95:NaN", "_count:2", "_sum:3"]],
    ["u unknown", ["", ":42"]],
  ]);
});

Deno.test("names in quotes, as Prometheus 3 writes them, are read", () => {
  const { families, fault } = scan(`# TYPE "my.metric" counter
{"my.metric", "label.one"="x", b = "}" , } 3
{"lonely µ"} 4
ordinary{"a b"="c"} 5
`);
  assert.equal(fault, undefined);
  assert.deepEqual(families.map(brief), [
    ["my.metric counter", ["b=},label.one=x", ":3"]],
    ["lonely µ unknown", ["", ":4"]],
    ["ordinary unknown", ["a b=c", ":5"]],
  ]);
});

Deno.test("labels in another order are the same series", () => {
  const { families } = scan(
    '# TYPE h histogram\nh_bucket{a="1",b="2",le="+Inf"} 1\nh_sum{b="2",a="1"} 3\n',
  );
  assert.equal(families[0]!.series.length, 1);
});

const GOOD = '# TYPE a counter\na_total 1\n# TYPE b histogram\nb_bucket{le="1"} 1\n';
const BAD: [what: string, page: string, line: number, kept: string[]][] = [
  ["no value", `${GOOD}b_bucket{le="+Inf"}\n`, 5, ["a"]],
  ["a value that is none", `${GOOD}b_bucket{le="+Inf"} x\n`, 5, ["a"]],
  ["a number in another base", "a 0x10\n", 1, []],
  ["a quote that is not closed", `${GOOD}c{x="y} 1\n`, 5, ["a", "b"]],
  ["a label without a value", "a 1\nb{x} 1\n", 2, ["a"]],
  ["a value without quotes", "a 1\nb{x=1} 1\n", 2, ["a"]],
  ["no comma", 'a 1\nb{x="1"y="2"} 1\n', 2, ["a"]],
  ["a label twice", 'a 1\nb{x="1",x="2"} 1\n', 2, ["a"]],
  ["an unknown type", "a 1\n# TYPE b number\nb 1\n", 2, ["a"]],
  ["something after the value", "a 1\nb 1 2 3\n", 2, ["a"]],
  ["HTML", "<!DOCTYPE html>\n<html>\n", 1, []],
  ["JSON", '[{"iter": 1}]\n', 1, []],
  ["an end within a line", "a 1\nb 12", 2, ["a"]],
  ["an end within a number", "a 1\nb 1", 2, ["a"]],
];
for (const [what, page, line, kept] of BAD) {
  Deno.test(`a page with ${what} keeps the families before it, and says where and why`, () => {
    const { families, fault } = scan(page);
    assert.equal(fault?.line, line);
    assert(fault!.why.length > 5);
    assert.deepEqual(families.map(({ name }) => name), kept);
  });
}

Deno.test("OpenMetrics that does not say where it ends is cut, one that goes on is told", () => {
  const cut = scan("# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n", { openMetrics: true });
  assert.match(cut.fault!.why, /without "# EOF"/);
  assert.deepEqual(cut.families.map(({ name }) => name), ["a"]);
  const more = scan("a 1\n# EOF\nb 1\n", { openMetrics: true });
  assert.deepEqual([more.fault!.line, more.families.length], [3, 1]);
  assert.equal(scan("a 1\n# EOF", { openMetrics: true }).fault, undefined);
});

Deno.test("a page that was cut off lacks the family that was cut", () => {
  const { families, fault } = scan("a 1\nb 1\nb 12", { cut: "too long" });
  assert.deepEqual(families.map(({ name }) => name), ["a"]);
  assert.deepEqual(fault, { line: 2, why: "too long" });
});

Deno.test("a page of more series than an instance may have is read up to there", () => {
  const many = Array.from({ length: MAX_SERIES + 5 }, (_, i) => `b{i="${i}"} 1\n`).join("");
  const { families, fault } = scan(`a 1\n${many}`);
  assert.deepEqual(families.map(({ name }) => name), ["a"]);
  assert.match(fault!.why, /more than 20000 series/);
});

const name = fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9:]{0,12}$/);
const anyName = fc.oneof(name, fc.string({ minLength: 1, unit: "grapheme" }));
const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Infinity, -Infinity, NaN));
const labels = fc.uniqueArray(
  fc.tuple(anyName.filter((label) => label !== "le" && label !== "quantile"), fc.string()),
  { selector: ([label]) => label, maxLength: 5 },
);
const exposed = fc.uniqueArray(
  fc.record({
    name: anyName,
    type: fc.constantFrom("counter", "gauge", "untyped"),
    series: fc.uniqueArray(fc.tuple(labels, number), {
      minLength: 1,
      maxLength: 4,
      selector: ([labels]) => JSON.stringify(labels.toSorted()),
    }),
  }),
  { selector: ({ name }) => name, maxLength: 5 },
);

function written(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')}"`;
}

function nameWritten(text: string): string {
  return /^[a-zA-Z_:][\w:]*$/.test(text) ? text : written(text);
}

Deno.test("whatever is written is read back", () => {
  fc.assert(fc.property(exposed, fc.boolean(), (families, openMetrics) => {
    let page = "";
    for (const { name, type, series } of families) {
      page += `# TYPE ${nameWritten(name)} ${type}\n`;
      for (const [labels, value] of series) {
        const pairs = labels.map(([label, value]) => `${nameWritten(label)}=${written(value)}`);
        const bare = nameWritten(name) === name;
        const inside = (bare ? pairs : [written(name), ...pairs]).join(",");
        page += `${bare ? name : ""}{${inside}} ${String(value).replace("Infinity", "Inf")}\n`;
      }
    }
    const read = scan(`${page}${openMetrics ? "# EOF\n" : ""}`, { openMetrics });
    assert.equal(read.fault, undefined);
    assert.deepEqual(
      read.families.map(({ name, series }) => ({
        name,
        series: series.map(({ labels, points }) => [{ ...labels }, points[0]!.value + 0]),
      })),
      families.map(({ name, series }) => ({
        name,
        series: series.map(([labels, value]) => [
          Object.fromEntries(labels.toSorted(([a], [b]) => a < b ? -1 : 1)),
          value + 0,
        ]),
      })),
    );
  }));
});

Deno.test("a page cut anywhere never gives a value that it does not have", () => {
  const page = Array.from({ length: 9 }, (_, i) => `# TYPE m${i} gauge\nm${i}{a="b"} 12345\n`).join(
    "",
  );
  for (let at = 0; at < page.length; at++) {
    const { families, fault } = scan(page.slice(0, at), { cut: "cut" });
    assert(fault);
    for (const { series } of families) assert.equal(series[0]!.points[0]!.value, 12345);
  }
});

Deno.test("whatever comes, scanning it does not throw", () => {
  const piece = fc.oneof(
    fc.constantFrom("a", "{", "}", '"', "\\", "\n", " ", "# TYPE ", "=", "1", "#", ","),
    fc.string(),
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
    scan(pieces.join(""));
  }));
});
