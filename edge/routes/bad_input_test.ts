/** Uploads that are refused, and what the refusals name. */

import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { encodeUpload } from "@service/core";
import { MAX_INFLATED_BYTES, MAX_UPLOAD_BYTES, MAX_UPLOAD_PARTS } from "@service/core/limits";
import { testOnFile } from "../testing/each_storage.ts";
import { dump, makeUpload, NOW_TS, post, refused, send, type TestService } from "../testing/api.ts";

const instance_id = "0123456789ab";
const GOOD = encodeUpload(makeUpload({ instance_id, from: NOW_TS - 90, to: NOW_TS - 80 }));

/** The good body with another series. */
function withSeries(series: string): string {
  const body = GOOD.replace(/"series":\[.*?\],"resources"/, `"series":[${series}],"resources"`);
  assert.notEqual(body, GOOD);
  return body;
}

function series(type: string, stats: string): string {
  return withSeries(`{"name":"a","type":"${type}","tags":{},"updated_ns":1,${stats}}`);
}

function histogram(stats: string): string {
  return series("histogram", `"sum":1,"min":null,"max":null,${stats}`);
}

const bins = (index: number) => `{"kind":"bins","indexes":[${index}],"counts":[1]}`;

/** Invalid bodies by their fault, with the parameter in the refusal. */
const BAD_BODIES: Record<string, [body: string | Uint8Array, parameter: string]> = {
  "nothing": ["", "body"],
  "malformed JSON": [GOOD.slice(0, -1), "body"],
  "NaN": [series("counter", '"total":NaN'), "body"],
  "invalid UTF-8": [new Uint8Array([0x22, 0xff, 0x22]), "body"],
  "unlimited nesting": ["[".repeat(200_000), "body"],
  "too many parts": [`{"a":[${"{},".repeat(MAX_UPLOAD_PARTS)}{}]}`, "body"],
  "an array": ["[]", "body"],
  "a wrong type": [GOOD.replace('"final":false', '"final":"no"'), "final"],
  "a missing field": [GOOD.replace('"final":false,', ""), "final"],
  "a misspelt field": [GOOD.replace('"final"', '"finale"'), "final"],
  "a format that is no number": [GOOD.replace('"format":1', '"format":"1"'), "format"],
  "an invalid instance id": [GOOD.replaceAll(instance_id, "../../etc"), "instance_id"],
  "a fraction of a nanosecond": [
    GOOD.replace(/"to_ns":\d+/, '"to_ns":1790000000000000000.5'),
    "window.to_ns",
  ],
  "a span that does not end on a whole second": [
    GOOD.replace(/"to_ns":(\d+)\d/, '"to_ns":$11'),
    "window.to_ns",
  ],
  "an end of the workload before the last window": [
    GOOD.replace('"final":false', `"final":false,"ended_ns":${NOW_TS - 85}000000000`),
    "ended_ns",
  ],
  "an end of the workload after the last window's": [
    GOOD.replace('"final":false', `"final":true,"ended_ns":${NOW_TS - 80}000000001`),
    "ended_ns",
  ],
  "a span that ends before it starts": [GOOD.replace(/"to_ns":\d+/, '"to_ns":1'), "window.to_ns"],
  "a span before the instance's start": [
    GOOD.replace(/"from_ns":\d+/, '"from_ns":1'),
    "window.from_ns",
  ],
  "a number beyond the limit": [series("counter", '"total":1e999'), "window.series[0].total"],
  "a negative counter": [series("counter", '"total":-1'), "window.series[0].total"],
  "a negative count": [
    histogram('"count":-1,"buckets":null'),
    "window.series[0].count",
  ],
  "a bin index out of range": [
    histogram(`"count":1,"buckets":${bins(16_383)}`),
    "window.series[0].buckets.indexes[0]",
  ],
  "a bin index without a bin": [
    histogram(`"count":1,"buckets":${bins(3)}`),
    "window.series[0].buckets.indexes[0]",
  ],
  "a tag of 10 MiB, compressed": [
    gzipSync(GOOD.replace('"host.name":"box"', `"host.name":"${"x".repeat(10 * 2 ** 20)}"`)),
    "tags.host.name",
  ],
};

/** Status and parameters of the refusal of a body. */
async function refusal(
  service: TestService,
  body: string | Uint8Array,
  headers?: Record<string, string>,
): Promise<[number, string[]]> {
  const response = await post(service, body, headers);
  const { errors } = await refused(response, response.status);
  return [response.status, errors.map(({ parameter }) => parameter)];
}

testOnFile(
  "an invalid body is refused with the path of the fault, and changes nothing",
  async (service) => {
    await send(service, { instance_id, from: NOW_TS - 100, to: NOW_TS - 90 });
    const before = await dump(service.db);
    for (const [name, [body, parameter]] of Object.entries(BAD_BODIES)) {
      const gzip = body instanceof Uint8Array && body[0] === 0x1f;
      const headers: Record<string, string> = gzip ? { "content-encoding": "gzip" } : {};
      assert.deepEqual(await refusal(service, body, headers), [400, [parameter]], name);
    }
    assert.deepEqual(await dump(service.db), before);
    assert.equal((await post(service, GOOD)).status, 200);
  },
);

testOnFile("a body that cannot be unpacked is refused and changes nothing", async (service) => {
  const before = await dump(service.db);
  const packed = gzipSync(GOOD);
  const gzip = { "content-encoding": "gzip" };
  assert.deepEqual(await refusal(service, packed.subarray(0, -9), gzip), [400, ["body"]]);
  assert.deepEqual(await refusal(service, GOOD, gzip), [400, ["body"]]);
  assert.deepEqual(await refusal(service, packed), [400, ["body"]]);
  assert.deepEqual(await dump(service.db), before);
});

testOnFile("a body of another type or encoding is refused", async (service) => {
  const type = { "content-type": "text/plain" };
  assert.deepEqual(await refusal(service, GOOD, type), [415, ["Content-Type"]]);
  assert.deepEqual(await refusal(service, GOOD, { "content-type": "" }), [415, ["Content-Type"]]);
  const brotli = { "content-encoding": "br" };
  assert.deepEqual(await refusal(service, GOOD, brotli), [415, ["Content-Encoding"]]);
  const charset = await post(service, GOOD, { "content-type": "application/json; charset=utf-8" });
  assert.equal(charset.status, 200);
});

testOnFile("an upload of another format is refused, whatever it holds", async (service) => {
  for (const format of ["0", "2", "1.5", "9007199254740993"]) {
    for (const body of [GOOD.replace('"format":1', `"format":${format}`), `{"format":${format}}`]) {
      const { detail, errors } = await refused(await post(service, body), 415);
      assert.match(detail, /reads JSON uploads of format 1/);
      assert.deepEqual(errors.map(({ parameter }) => parameter), ["format"]);
    }
  }
  assert.equal((await post(service, GOOD.replace('"format":1,', ""))).status, 200);
});

testOnFile(
  "a body above the size limits, as sent or inflated, is refused and changes nothing",
  async (service) => {
    const before = await dump(service.db);
    const sent = new Uint8Array(MAX_UPLOAD_BYTES + 1);
    assert.deepEqual(await refusal(service, sent), [413, ["body"]]);
    const bomb = gzipSync(new Uint8Array(MAX_INFLATED_BYTES + 1));
    const gzip = { "content-encoding": "gzip" };
    assert.deepEqual(await refusal(service, bomb, gzip), [413, ["body"]]);
    assert.deepEqual(await dump(service.db), before);
  },
);

testOnFile("a bad key is refused before the body is read", async (service) => {
  const response = await post({ ...service, key: "wrong" }, "not JSON");
  await refused(response, 401);
});
