/** The endpoints to read follow from the flags and the engine. */

import assert from "node:assert/strict";
import { targets } from "./targets.ts";

const ENGINE = { url: "http://127.0.0.1:8080/metrics", key: { variable: "KEY" } };

Deno.test("the engine's key goes to the engine alone", () => {
  const targetsOf = (metricsUrl?: string) => targets({ metricsUrl }, ENGINE);
  assert.deepEqual(targetsOf(), [{ ...ENGINE, own: true }]);
  assert.deepEqual(targetsOf("http://127.0.0.1:8080/v/metrics"), [
    { ...ENGINE, url: "http://127.0.0.1:8080/v/metrics", own: true, named: true },
  ]);
  assert.deepEqual(targetsOf("http://127.0.0.1:9/metrics"), [
    { url: "http://127.0.0.1:9/metrics", own: true, named: true },
  ]);
  assert.deepEqual(targetsOf("http://10.0.0.7:8080/metrics"), [
    { url: "http://10.0.0.7:8080/metrics", own: false, named: true },
  ]);
});

Deno.test("the key that the user gives goes to the URL that the user names, or else to the engine", () => {
  const keys = (metricsUrl?: string) =>
    targets({ metricsUrl, metricsPort: 8080, keyFile: "k" }, ENGINE).map(({ key }) => key);
  assert.deepEqual(keys(), [{ file: "k" }]);
  assert.deepEqual(keys("http://10.0.0.7/metrics"), [{ file: "k" }, ENGINE.key]);
  assert.deepEqual(keys(ENGINE.url), [{ file: "k" }]);
});

Deno.test("an endpoint is the engine's own unless the user named it", () => {
  const named = (port?: number) => targets({ metricsPort: port }, ENGINE).map(({ named }) => named);
  assert.deepEqual([named(), named(8080)], [[undefined], [true]]);
});

Deno.test("a URL and a port are two endpoints, unless they are the same", () => {
  const two = (metricsUrl: string) => targets({ metricsUrl, metricsPort: 8080 }, ENGINE);
  assert.deepEqual(two("http://127.0.0.1:9/metrics").map(({ url }) => url), [
    "http://127.0.0.1:9/metrics",
    ENGINE.url,
  ]);
  assert.equal(two(ENGINE.url).length, 1);
});
