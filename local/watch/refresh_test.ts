/** Readers share a refresh, and wait for none that is slow. */

import assert from "node:assert/strict";
import { createRefresh } from "./refresh.ts";
import { Sampler } from "./sampler.ts";

const history = { add: () => Promise.resolve() };
const START_NS = 1_790_000_001_400_000_000n;

const ticker = { alone: <T>(work: () => Promise<T>) => work() };

/** A refresh of a source that ends when the test says so, and the count of its calls. */
function refreshed() {
  const end = Promise.withResolvers<void>();
  const asked = { times: 0 };
  let now_ns = START_NS;
  const sampler = new Sampler({
    start_ns: START_NS,
    now_ns: () => now_ns += 1_000n,
    sources: [{
      sample() {},
      canRefresh: () => true,
      refresh() {
        asked.times++;
        return end.promise;
      },
    }],
    history,
    log: assert.fail,
  });
  const steady = { now_ms: 0 };
  const refresh = createRefresh({ sampler, ticker, now_ms: () => steady.now_ms });
  return { refresh, asked, steady, end: end.resolve };
}

Deno.test("readers that ask at once share one refresh", async () => {
  const { refresh, asked, end } = refreshed();
  const waiting = [refresh(), refresh(), refresh()];
  end();
  await Promise.all(waiting);
  assert.equal(asked.times, 1);
});

Deno.test("what was refreshed less than 20 ms ago is fresh: there is nothing to wait for", async () => {
  const { refresh, asked, steady, end } = refreshed();
  end();
  await refresh();
  steady.now_ms = 19;
  assert.equal(refresh(), undefined);
  steady.now_ms = 20;
  await refresh();
  assert.equal(asked.times, 2);
});

Deno.test("a reader does not wait for a refresh that never ends", async () => {
  const { refresh, asked } = refreshed();
  await refresh();
  assert.equal(asked.times, 1);
});

Deno.test("without a source that can refresh there is nothing to wait for", () => {
  const options = { start_ns: 0n, now_ns: () => 1n, sources: [], history, log: assert.fail };
  const refresh = createRefresh({ sampler: new Sampler(options), ticker });
  assert.equal(refresh(), undefined);
});
