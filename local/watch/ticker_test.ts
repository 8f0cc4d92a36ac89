/** The ticker does one piece of work at a time. */

import assert from "node:assert/strict";
import { Ticker } from "./ticker.ts";

/** A clock that is always a millisecond before the next second, so that ticks follow at once. */
const now_ns = () => 1_999_000_000n;
const nothing = () => Promise.resolve();

Deno.test("ticks begin after the first work, follow each other, and end when it is stopped", async () => {
  const done: string[] = [];
  const third = Promise.withResolvers<void>();
  const ticker = new Ticker({
    now_ns,
    tick() {
      done.push("tick");
      if (done.length === 4) third.resolve();
      return Promise.resolve();
    },
    failed: assert.fail,
  });
  await ticker.start(() => Promise.resolve(void done.push("first")));
  assert.deepEqual(done, ["first"]);
  await third.promise;
  await ticker.stop();
  const { length } = done;
  await ticker.alone(() => new Promise((resolve) => setTimeout(resolve, 10)));
  assert.deepEqual(done.slice(0, 4), ["first", "tick", "tick", "tick"]);
  assert.equal(done.length, length);
});

Deno.test("a tick that fails is reported, and the next one comes", async () => {
  const errors: unknown[] = [];
  const second = Promise.withResolvers<void>();
  let ticks = 0;
  const ticker = new Ticker({
    now_ns,
    tick() {
      if (++ticks === 1) return Promise.reject("broken");
      second.resolve();
      return Promise.resolve();
    },
    failed: (error) => errors.push(error),
  });
  await ticker.start(nothing);
  await second.promise;
  await ticker.stop();
  assert.deepEqual(errors, ["broken"]);
});

Deno.test("work is done one after the other, in its order, whatever fails", async () => {
  const ticker = new Ticker({ now_ns, tick: nothing, failed: assert.fail });
  const steps: string[] = [];
  const work = (name: string, fails = false) => async () => {
    steps.push(`${name} begins`);
    await Promise.resolve();
    steps.push(`${name} ends`);
    if (fails) throw new Error(name);
    return name;
  };
  const [first, second] = [ticker.alone(work("a", true)), ticker.alone(work("b"))];
  await assert.rejects(first, { message: "a" });
  assert.equal(await second, "b");
  assert.deepEqual(steps, ["a begins", "a ends", "b begins", "b ends"]);
});

Deno.test("stopping waits for the tick under way", async () => {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let ended = false;
  const ticker = new Ticker({
    now_ns,
    async tick() {
      begun.resolve();
      await end.promise;
      ended = true;
    },
    failed: assert.fail,
  });
  await ticker.start(nothing);
  await begun.promise;
  const stopped = ticker.stop();
  end.resolve();
  await stopped;
  assert(ended);
});
