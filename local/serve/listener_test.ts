/** The listener takes its port or a free one, or refuses. */

import assert from "node:assert/strict";
import { checkListener, openListener } from "./listener.ts";

const ok = () => Promise.resolve(new Response("ok"));

/** A port that something else listens on. */
function takenPort(): Disposable & { port: number } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return {
    port: (listener.addr as Deno.NetAddr).port,
    [Symbol.dispose]: () => listener.close(),
  };
}

Deno.test("requests before the first answer wait for it", async () => {
  const listener = openListener({ host: "127.0.0.1", port: 0 });
  const early = fetch(listener.url!);
  listener.serve(ok);
  assert.equal(await (await early).text(), "ok");
  await listener.close();
  await assert.rejects(fetch(listener.url!), TypeError);
});

Deno.test("a named port that is taken is refused", () => {
  using taken = takenPort();
  const options = { host: "127.0.0.1", port: taken.port, named: true };
  assert.throws(() => checkListener(options), { message: /the port is in use$/ });
});

Deno.test("an address that is not this machine's is refused, named port or not", () => {
  const options = { host: "192.0.2.1", port: 0, named: false };
  assert.throws(() => checkListener(options), { message: /cannot listen on 192\.0\.2\.1:0/ });
  assert.throws(() => checkListener({ ...options, named: true }), { message: /cannot listen on/ });
});

Deno.test("a taken port that was not named is no mistake: a free one is taken, and the user told", async () => {
  using taken = takenPort();
  const options = { host: "127.0.0.1", port: taken.port, named: false };
  checkListener(options);
  const listener = openListener(options);
  listener.serve(ok);
  assert.notEqual(Number(new URL(listener.url!).port), taken.port);
  assert.equal(
    listener.notice,
    `cannot listen on 127.0.0.1:${taken.port}: the port is in use; /signals is served at ${listener.url}`,
  );
  assert.equal(await (await fetch(listener.url!)).text(), "ok");
  await listener.close();
});

Deno.test("a listener that has its port has nothing to tell", async () => {
  const listener = openListener({ host: "127.0.0.1", port: 0 });
  assert.equal(listener.notice, null);
  await listener.close();
});

Deno.test("without any port the workload runs, and the user is told", async () => {
  const listener = openListener({ host: "192.0.2.1", port: 18259 });
  listener.serve(ok);
  assert.equal(listener.url, null);
  assert.match(listener.notice!, /^cannot listen on 192\.0\.2\.1:18259: .*; nothing is served$/);
  await listener.close();
});

Deno.test("closing does not wait for a request that never ends", async () => {
  const listener = openListener({ host: "127.0.0.1", port: 0 });
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  listener.serve(() => {
    asked.resolve();
    return answer.promise;
  });
  const hanging = fetch(listener.url!);
  await asked.promise;
  await listener.close();
  await assert.rejects(fetch(listener.url!), TypeError);
  answer.resolve(new Response("late"));
  assert.equal(await (await hanging).text(), "late");
});
