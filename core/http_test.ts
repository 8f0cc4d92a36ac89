/** HTTP answers: gzip only for clients that accept it, refusals as problem documents. */

import assert from "node:assert/strict";
import { acceptsGzip, acceptsText, problemAnswer } from "./http.ts";
import { refuse, refuseMethod, retryAfter } from "./problem.ts";

Deno.test("gzip is accepted where the header names it, or all codings, with a weight above 0", () => {
  const accepting = ["gzip", "br, GZIP;q=0.5", "*", "gzip ; q=1", "gzip;q=0.001", "*;q=0, gzip"];
  for (const header of accepting) assert.equal(acceptsGzip(header), true, header);
});

Deno.test("gzip is not accepted where the header leaves it out, or gives it the weight 0", () => {
  const refusing = ["", "identity", "br", "gzip;q=0", "gzip; q=0.000", "*;q=0", "gzip;q=0, *"];
  for (const header of [null, undefined, ...refusing]) {
    assert.equal(acceptsGzip(header), false, String(header));
  }
});

Deno.test("a refusal is sent as its problem document, with its headers", () => {
  const refusal = retryAfter(7, refuse(429, "Cannot read now", [{ parameter: "é", message: "x" }]));
  const { status, headers, body } = problemAnswer(refusal);
  assert.equal(status, 429);
  assert.deepEqual(headers, {
    "content-type": "application/problem+json",
    "content-length": String(body.length),
    "retry-after": "7",
  });
  assert.deepEqual(JSON.parse(new TextDecoder().decode(body)), refusal.problem);
  assert.equal(refuseMethod("PUT", ["GET", "HEAD"]).headers.allow, "GET, HEAD");
});

Deno.test("plain text is wanted by who names it, and not by who takes anything", () => {
  const wanted = (header: string | null) => acceptsText(header);
  assert.ok(wanted("text/plain"));
  assert.ok(wanted("Text/Plain; charset=utf-8, */*;q=0.1"));
  assert.ok(wanted("application/json;q=0.5, text/plain"));
  for (
    const header of [null, "", "*/*", "text/html,application/xml;q=0.9,*/*;q=0.8"]
      .concat(["application/json, text/plain, */*", "text/plain;q=0", "application/json"])
  ) {
    assert.ok(!wanted(header as string | null), String(header));
  }
});
