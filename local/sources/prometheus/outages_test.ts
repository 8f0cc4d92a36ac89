/** When endpoints are read: until they are up, after an outage, at a signal, and at the end. */

import assert from "node:assert/strict";
import { DONE, scraping, serve, value } from "./testdata/scraping.ts";

Deno.test("an endpoint that is not up yet is waited for without a word, and counts from zero", async () => {
  const { server: first, url } = serve(() => new Response());
  const { port } = first.addr;
  await first.shutdown();
  await using source = scraping(url, { own: false });
  const waiting = await source.until((payload) => value(payload, "profiler_scrapes_total") === 0);
  assert.equal(value(waiting, "profiler_capture_state"), 0);
  let loading = 3;
  const { server } = serve(
    () =>
      loading-- > 0 ? new Response(null, { status: 503 }) : new Response("# TYPE c counter\nc 9\n"),
    port,
  );
  const payload = await source.until((payload) => value(payload, "c") !== undefined);
  assert.equal(value(payload, "c"), 9);
  assert.equal(value(payload, "profiler_capture_state"), 1);
  assert.deepEqual(payload.errors, []);
  assert.equal(value(payload, "profiler_scrape_failures_total"), 0);
  await server.shutdown();
});

Deno.test("an endpoint elsewhere that was there before counts from its first scrape", async () => {
  let counted = 100;
  const { server, url } = serve(() => new Response(`# TYPE c counter\nc ${counted++}\n`));
  {
    await using source = scraping(url, { own: false });
    const payload = await source.until((payload) => value(payload, "profiler_scrapes_total")! >= 3);
    assert.equal(value(payload, "c"), value(payload, "profiler_scrapes_total")! - 1);
  }
  await server.shutdown();
});

Deno.test("an endpoint that comes back keeps its totals, and the outage is told once", async () => {
  const { server, url } = serve(() => new Response("# TYPE c counter\nc 5\n"));
  await using source = scraping(url);
  await source.until((payload) => value(payload, "c") === 5);
  await server.shutdown();
  await source.until((payload) => value(payload, "profiler_scrape_failures_total")! >= 2);
  const again = serve(() => new Response("# TYPE c counter\nc 2\n"), server.addr.port);
  const payload = await source.until((payload) => value(payload, "c") !== 5);
  assert.equal(value(payload, "c"), 7);
  assert.deepEqual(payload.errors.map(({ message, level }) => [level, message]), [
    ["warning", `service-run: Cannot read ${url}: nothing listens there`],
  ]);
  await again.server.shutdown();
});

Deno.test("settling reads a last time; where the endpoint is gone the last scrape stands", async () => {
  let counted = 1;
  const { server, url } = serve(() => new Response(`# TYPE c counter\nc ${counted++}\n`));
  const source = scraping(url, { period_ms: 60_000 });
  await source.until((payload) => value(payload, "c") === 1);
  assert.equal(value(await source.settle(), "c"), 2);
  const other = scraping(url, { period_ms: 60_000 });
  await other.until((payload) => value(payload, "c") === 3);
  await server.shutdown();
  const last = await other.settle();
  assert.equal(value(last, "c"), 3);
  assert.deepEqual(last.errors, []);
});

Deno.test("a signal to the workload reads at once, and then an endpoint that is gone is no failure", async () => {
  let counted = 1;
  const { server, url } = serve(() => new Response(`# TYPE c counter\nc ${counted++}\n`));
  await using source = scraping(url, { period_ms: 60_000 });
  await source.until((payload) => value(payload, "c") === 1);
  source.hurry();
  await source.until((payload) => value(payload, "c") === 2);
  await server.shutdown();
  source.hurry();
  const last = await source.settle();
  assert.equal(value(last, "c"), 2);
  assert.equal(value(last, "profiler_scrape_failures_total"), 0);
  assert.equal(value(last, "profiler_capture_state"), 1);
  assert.deepEqual(last.errors, []);
});

Deno.test("a signal during a scrape reads again after it: that one may show less", async () => {
  const asked: PromiseWithResolvers<Response>[] = [];
  const { server, url } = serve(() => {
    asked.push(Promise.withResolvers());
    return asked.at(-1)!.promise;
  });
  {
    await using source = scraping(url, { period_ms: 60_000 });
    await source.until(() => asked.length === 1);
    source.hurry();
    asked[0]!.resolve(new Response("# TYPE c counter\nc 1\n"));
    await source.until(() => asked.length === 2);
    asked[1]!.resolve(new Response("# TYPE c counter\nc 2\n"));
    await source.until((payload) => value(payload, "c") === 2);
    const settled = source.settle();
    await source.until(() => asked.length === 3);
    asked[2]!.resolve(new Response("# TYPE c counter\nc 3\n"));
    assert.equal(value(await settled, "c"), 3);
  }
  await server.shutdown();
});

Deno.test("at most a second is lost where an engine dies without a signal from here", async () => {
  const asked_ms: number[] = [];
  const { server, url } = serve(() => {
    asked_ms.push(performance.now());
    return new Response(DONE);
  });
  {
    await using source = scraping(url, { period_ms: undefined });
    await source.until(() => asked_ms.length === 3);
    assert(asked_ms[2]! - asked_ms[0]! < 3_000, `${asked_ms}`);
  }
  await server.shutdown();
});

Deno.test("an endpoint that takes long is asked for a fifth of the time at most", async () => {
  const started_ms: number[] = [];
  const { server, url } = serve(async () => {
    started_ms.push(performance.now());
    await new Promise((resolve) => setTimeout(resolve, 50));
    return new Response(DONE);
  });
  {
    await using source = scraping(url);
    await source.until(() => started_ms.length === 3);
    assert(started_ms[2]! - started_ms[0]! >= 450, `${started_ms}`);
  }
  await server.shutdown();
});
