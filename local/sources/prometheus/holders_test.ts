/** Whose port is read: the run's, one that the user names, or nobody's. */

import assert from "node:assert/strict";
import type { Holder } from "./listeners.ts";
import { scraping, serve, value } from "./testdata/scraping.ts";

Deno.test("a port that another process holds is not read until one of the run holds it", async () => {
  let counted = 100;
  let holder: Holder = { is: "other", who: "process 7 (engine)" };
  const { server, url } = serve(() => new Response(`# TYPE c counter\nc ${counted++}\n`));
  {
    await using source = scraping(url, { holder: () => Promise.resolve(holder) });
    const foreign = await source.until(({ errors }) => errors.length > 0);
    assert.match(
      foreign.errors[0]!.message,
      /Cannot read .*: its port belongs to process 7 \(engine\), which is not of this run$/,
    );
    assert.equal(value(foreign, "profiler_capture_state"), 0);
    assert.equal(counted, 100, "not one request");
    counted = 3;
    holder = { is: "run", sockets: "1" };
    const own = await source.until((payload) => value(payload, "c") !== undefined);
    assert(value(own, "c")! < 100);
    holder = { is: "other", who: "process 8" };
    await source.until(({ errors }) => errors.length > 1);
    const asked = counted;
    assert.equal(value(await source.settle(), "c"), asked - 1);
    assert.equal(counted, asked);
  }
  await server.shutdown();
});

for (const [is, total] of [["run", 5], ["unknown", 5], ["other", 0]] as const) {
  Deno.test(`a port that the user names is read; one held by ${is} counts ${total} of 5`, async () => {
    const { server, url } = serve(() => new Response("# TYPE c counter\nc 5\n"));
    {
      const holder: Holder = is === "other" ? { is, who: "process 7" } : { is, sockets: "1" };
      await using source = scraping(url, { named: true, holder: () => Promise.resolve(holder) });
      const payload = await source.until((payload) => value(payload, "c") !== undefined);
      assert.equal(value(payload, "c"), total);
      assert.equal(payload.errors.length, is === "other" ? 1 : 0);
    }
    await server.shutdown();
  });
}

Deno.test("a server that another process starts after the run counts from zero", async () => {
  const { server: first, url } = serve(() => new Response());
  const { port } = first.addr;
  await first.shutdown();
  let holder: Holder = { is: "unknown" };
  await using source = scraping(url, { named: true, holder: () => Promise.resolve(holder) });
  await source.until((payload) => value(payload, "profiler_scrapes_total") === 0);
  holder = { is: "other", who: "process 7 (docker-proxy)" };
  const { server } = serve(() => new Response("# TYPE c counter\nc 5\n"), port);
  const payload = await source.until((payload) => value(payload, "c") !== undefined);
  assert.equal(value(payload, "c"), 5);
  await server.shutdown();
});
