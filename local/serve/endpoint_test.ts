/** The local endpoint answers its routes, to this machine alone. */

import assert from "node:assert/strict";
import { decode, emptyWindow, type Series, seriesKey, signals } from "@service/core";
import { problem } from "@service/core/payload_schema";
import { createEndpoint } from "./endpoint.ts";
import { gunzip } from "../base/gzip.ts";

const START_NS = 1_790_000_000_000_000_001n;
const NOW_NS = START_NS + 3_600_000_000_000n;

/** An endpoint over one gauge updated now, one long ago, and a profile of three frames. */
function endpoint(host = "127.0.0.1") {
  const total = emptyWindow(START_NS);
  total.to_ns = NOW_NS;
  const all: Series[] = [
    { name: "a_now", type: "gauge", tags: {}, updated_ns: NOW_NS, value: 0 },
    { name: "a_stale", type: "gauge", tags: {}, updated_ns: NOW_NS - 600_000_000_001n, value: 1 },
    { name: "b_late", type: "counter", tags: {}, updated_ns: NOW_NS - 600_000_000_000n, total: 2 },
    {
      name: "c_profile",
      type: "profile",
      tags: {},
      updated_ns: NOW_NS,
      frames: new Map([1, 3, 2].map((value) => [`f${value}`, { value, samples: 1 }])),
    },
  ];
  for (const series of all) total.series.set(seriesKey(series), series);
  const handle = createEndpoint({
    total,
    context: { "instance.id": "0123456789ab" },
    version: "1.2.3",
    host,
    now_ns: () => NOW_NS,
    instance: {
      instance_id: "0123456789ab",
      profiler_version: "1.2.3",
      start_ns: START_NS,
      tags: { "instance.id": "0123456789ab" },
      attributes: {},
    },
    windows: {
      read: () => assert.fail("no span is read"),
      steps: () => assert.fail("no steps are read"),
    },
    ready: Promise.resolve(),
  });
  return {
    total,
    get: (path: string, init?: RequestInit, authority = "127.0.0.1:18259") =>
      handle(new Request(`http://${authority}${path}`, init)),
  };
}

async function names(response: Response): Promise<string[]> {
  return signals.check(decode(await response.text())).metrics.map(({ name }) => name);
}

Deno.test("/signals answers the payload, without series that were not updated for ten minutes", async () => {
  const response = await endpoint().get("/signals");
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/json");
  const payload = signals.check(decode(await response.text()));
  assert.deepEqual(payload.profiler, { version: "1.2.3" });
  assert.equal(payload.platform, undefined);
  assert.equal(payload.start_ns, START_NS);
  assert.equal(payload.payload_ns, NOW_NS);
  assert.deepEqual(payload.metrics.map(({ name }) => name), ["a_now", "b_late", "c_profile"]);
});

Deno.test("a new tick is seen by the next read", async () => {
  const { total, get } = endpoint();
  assert.equal((await names(await get("/signals"))).length, 3);
  total.series.clear();
  total.to_ns += 1_000_000_000n;
  assert.deepEqual(await names(await get("/signals")), []);
});

Deno.test("metrics and top select metrics and frames", async () => {
  const { get } = endpoint();
  assert.deepEqual(await names(await get("/signals?metrics=b_late,c_*")), ["b_late", "c_profile"]);
  assert.deepEqual(await names(await get("/signals?metrics=nothing")), []);
  const [metric] = signals.check(
    decode(await (await get("/signals?metrics=c_profile&top=2")).text()),
  ).metrics;
  assert.deepEqual(metric!.stats, {
    frames: [
      { name: "f3", value: 3, samples: 1 },
      { name: "f2", value: 2, samples: 1 },
      { name: "(not shown)", value: 1, samples: 1 },
    ],
  });
});

for (
  const [query, parameter] of [
    ["top=0", "top"],
    ["top=x", "top"],
    ["top=1&top=2", "top"],
    ["metrics=", "metrics"],
    ["metrics=a,,b", "metrics"],
    ["metric=a", "metric"],
  ] as const
) {
  Deno.test(`?${query} is refused and names the parameter`, async () => {
    const response = await endpoint().get(`/signals?${query}`);
    assert.equal(response.status, 400);
    assert.equal(response.headers.get("content-type"), "application/problem+json");
    const { errors } = problem.check(await response.json());
    assert.deepEqual(errors.map((error) => error.parameter), [parameter]);
  });
}

Deno.test("an answer is compressed if the client accepts gzip, and only then", async () => {
  const { get } = endpoint();
  const plain = await (await get("/signals")).text();
  for (const asked of ["gzip", "br, GZIP;q=0.5", "*"]) {
    const response = await get("/signals", { headers: { "accept-encoding": asked } });
    assert.equal(response.headers.get("content-encoding"), "gzip", asked);
    assert.equal(await gunzip(await response.bytes()), plain);
  }
  for (const asked of ["identity", "gzip;q=0", "br"]) {
    const response = await get("/signals", { headers: { "accept-encoding": asked } });
    assert.equal(response.headers.get("content-encoding"), null, asked);
    assert.equal(await response.text(), plain);
  }
});

Deno.test("HEAD answers the headers of GET and no body", async () => {
  const { get } = endpoint();
  for (const path of ["/signals", "/health"]) {
    const head = await get(path, { method: "HEAD" });
    assert.equal(head.status, 200);
    const body = await (await get(path)).text();
    assert.equal(head.headers.get("content-length"), String(body.length));
    assert.equal(await head.text(), "");
  }
});

Deno.test("/health says ok", async () => {
  assert.deepEqual(await (await endpoint().get("/health")).json(), { status: "ok" });
  assert.deepEqual(await (await endpoint().get("/health/")).json(), { status: "ok" });
});

Deno.test("other paths are 404, other methods 405 with what is allowed", async () => {
  const { get } = endpoint();
  assert.equal((await get("/")).status, 404);
  const missing = await get("/signalsx");
  assert.equal(missing.status, 404);
  assert.match(
    problem.check(await missing.json()).detail,
    /: \/signals, \/signals\/windows, \/context, \/findings, and \/health are served here$/,
  );
  const response = await get("/signals", { method: "POST", body: "x" });
  assert.equal(response.status, 405);
  assert.equal(response.headers.get("allow"), "GET, HEAD");
  problem.check(await response.json());
});

const HOSTS: [bound: string, authority: string, status: number][] = [
  ["127.0.0.1", "127.0.0.1:18259", 200],
  ["127.0.0.1", "localhost:18259", 200],
  ["127.0.0.1", "LOCALHOST", 200],
  ["127.0.0.1", "evil.example", 403],
  ["127.0.0.1", "127.0.0.1.evil.example", 403],
  ["127.0.0.1", "10.0.0.5", 403],
  ["gpu-7", "gpu-7:18259", 200],
  ["gpu-7", "evil.example", 403],
  ["0.0.0.0", "10.0.0.5:18259", 200],
  ["0.0.0.0", "evil.example", 403],
  ["::", "[fe80::1]:18259", 200],
];

for (const [bound, authority, status] of HOSTS) {
  Deno.test(`bound to ${bound}, Host ${authority} gets ${status}`, async () => {
    assert.equal((await endpoint(bound).get("/signals", {}, authority)).status, status);
  });
}

for (
  const [origin, status] of [
    ["http://localhost:3000", 200],
    ["http://127.0.0.1:18259", 200],
    ["https://evil.example", 403],
    ["null", 403],
  ] as const
) {
  Deno.test(`Origin ${origin} gets ${status}`, async () => {
    assert.equal((await endpoint().get("/signals", { headers: { origin } })).status, status);
  });
}
