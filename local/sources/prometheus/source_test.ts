/** Scrapes of endpoints: formats, keys, values that are no numbers, and tags. */

import assert from "node:assert/strict";
import { DONE, scraping, serve, value } from "./testdata/scraping.ts";

Deno.test("it asks for both formats, takes gzip, and a login of the URL", async () => {
  let asked: Headers | undefined;
  const { server, url } = serve(async ({ headers }) => {
    asked = headers;
    const body = new Blob(["# TYPE c counter\nc_total 3\n# EOF\n"]).stream()
      .pipeThrough(new CompressionStream("gzip"));
    return new Response(await new Response(body).bytes(), {
      headers: {
        "content-type": "application/openmetrics-text; version=1.0.0; charset=utf-8",
        "content-encoding": "gzip",
      },
    });
  });
  {
    await using source = scraping(url.replace("http://", "http://me:s3cret@"));
    const payload = await source.until((payload) => value(payload, "c_total") === 3);
    assert(!JSON.stringify(payload.metrics.map(({ tags }) => tags)).includes("s3cret"));
  }
  assert.match(
    asked!.get("accept")!,
    /^application\/openmetrics-text;.*text\/plain;version=0\.0\.4/,
  );
  assert.match(asked!.get("accept-encoding")!, /gzip/);
  assert.equal(asked!.get("authorization"), `Basic ${btoa("me:s3cret")}`);
  await server.shutdown();
});

Deno.test("a key is given as a bearer's, is read for each scrape, and is never shown", async () => {
  const { server, url } = serve(({ headers }) =>
    headers.get("authorization") === "Bearer s3cret"
      ? new Response("# TYPE c counter\nc 3\n")
      : new Response(null, { status: 401 })
  );
  {
    const keys = [undefined, "old", "s3cret"];
    const key = () => keys.length > 1 ? keys.shift() : keys[0];
    await using source = scraping(url, { key });
    const payload = await source.until((payload) => value(payload, "c") === 3);
    assert.deepEqual(payload.errors.map(({ message }) => message.replace(/.*: it/, "it")), [
      "it answers 401",
      "it answers 401, and no key is known: write it to a file that SERVICE_METRICS_KEY_FILE names",
    ]);
    assert(!JSON.stringify(payload, (_, v) => String(v)).includes("s3cret"));
    await using other = scraping(url, { key: () => "wrong" });
    const refused = await other.until(({ errors }) => errors.length > 0);
    assert.match(refused.errors[0]!.message, /it answers 401$/);
  }
  await server.shutdown();
});

Deno.test("NaN and infinities never reach a payload", async () => {
  const { server, url } = serve(() =>
    new Response("# TYPE a gauge\na NaN\n# TYPE b counter\nb +Inf\n# TYPE c counter\nc 1\n")
  );
  {
    await using source = scraping(url);
    const payload = await source.until((payload) => value(payload, "c") === 1);
    assert.deepEqual([value(payload, "a"), value(payload, "b")], [undefined, undefined]);
    assert.deepEqual(payload.errors, []);
  }
  await server.shutdown();
});

Deno.test("targets among others carry a tag that tells them apart", async () => {
  const { server, url } = serve(() => new Response(DONE));
  {
    await using source = scraping(url, { among: true });
    const payload = await source.until((payload) => value(payload, "c") === 3);
    assert.deepEqual(payload.metrics.find(({ name }) => name === "c")!.tags, {
      "metrics.url": url,
    });
  }
  await server.shutdown();
});
