/** The listener takes its port, waits for it, or refuses. */

import assert from "node:assert/strict";
import { openListener } from "./listener.ts";

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
  const listener = openListener({ host: "127.0.0.1", port: 0, named: true });
  const early = fetch(listener.url());
  listener.serve(ok, assert.fail);
  assert.equal(await (await early).text(), "ok");
  await listener.close();
  await assert.rejects(fetch(listener.url()), TypeError);
});

Deno.test("a named port that is taken is refused", () => {
  using taken = takenPort();
  const options = { host: "127.0.0.1", port: taken.port, named: true };
  assert.throws(() => openListener(options), { message: /the port is in use$/ });
});

Deno.test("an address that is not this machine's is refused, named port or not", () => {
  const options = { host: "192.0.2.1", port: 0, named: false };
  assert.throws(() => openListener(options), { message: /cannot listen on 192\.0\.2\.1:0/ });
});

Deno.test("a taken port that was not named is waited for, with a warning", async () => {
  let listener;
  const warnings: string[] = [];
  {
    using taken = takenPort();
    listener = openListener({ host: "127.0.0.1", port: taken.port, named: false });
    listener.serve(ok, (message) => warnings.push(message));
    assert.match(warnings.join(), /in use; the workload runs, \/signals is served there as soon/);
  }
  for (;;) {
    const response = await fetch(listener.url()).catch(() => undefined);
    if (await response?.text() === "ok") break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(warnings.length, 1);
  await listener.close();
});

Deno.test("closing does not wait for a request that never ends", async () => {
  const listener = openListener({ host: "127.0.0.1", port: 0, named: true });
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  listener.serve(() => {
    asked.resolve();
    return answer.promise;
  }, assert.fail);
  const hanging = fetch(listener.url());
  await asked.promise;
  await listener.close();
  await assert.rejects(fetch(listener.url()), TypeError);
  answer.resolve(new Response("late"));
  assert.equal(await (await hanging).text(), "late");
});
