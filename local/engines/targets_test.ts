/** The endpoints to read follow from the flags and the engine. */

import assert from "node:assert/strict";
import { targets } from "./targets.ts";

const URL_8080 = "http://127.0.0.1:8080/metrics";
const KEY = { variable: "KEY" };
const ENGINE = { urls: [URL_8080], key: KEY };

Deno.test("the engine's key goes to the engine alone", () => {
  const targetsOf = (metricsUrl?: string) => targets({ metricsUrl }, ENGINE);
  assert.deepEqual(targetsOf(), [{ url: URL_8080, key: KEY, own: true }]);
  assert.deepEqual(targetsOf("http://127.0.0.1:8080/v/metrics"), [
    { url: "http://127.0.0.1:8080/v/metrics", key: KEY, own: true, named: true },
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
  assert.deepEqual(keys("http://10.0.0.7/metrics"), [{ file: "k" }, KEY]);
  assert.deepEqual(keys(URL_8080), [{ file: "k" }]);
});

Deno.test("an endpoint is the engine's own unless the user named it", () => {
  const named = (port?: number) => targets({ metricsPort: port }, ENGINE).map(({ named }) => named);
  assert.deepEqual([named(), named(8080)], [[undefined], [true]]);
});

Deno.test("a URL and a port are two endpoints, unless they are the same", () => {
  const two = (metricsUrl: string) => targets({ metricsUrl, metricsPort: 8080 }, ENGINE);
  assert.deepEqual(two("http://127.0.0.1:9/metrics").map(({ url }) => url), [
    "http://127.0.0.1:9/metrics",
    URL_8080,
  ]);
  assert.equal(two(URL_8080).length, 1);
});

Deno.test("each server of an engine is an endpoint, and a URL is read in place of all", () => {
  const ranks = { urls: [URL_8080, "http://127.0.0.1:8081/metrics"] };
  assert.deepEqual(targets({}, ranks).map(({ url, own }) => [url, own]), [
    [URL_8080, true],
    ["http://127.0.0.1:8081/metrics", true],
  ]);
  assert.equal(targets({ metricsUrl: "http://127.0.0.1:9/metrics" }, ranks).length, 1);
});
