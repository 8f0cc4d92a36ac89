/** A guarded process keeps its address, its connections and its life. */

import assert from "node:assert/strict";
import { guardProcess } from "./guard.ts";

/** The environment after the guards have changed it. */
function guarded(variables: Record<string, string>): Record<string, string> {
  const env = new Map(Object.entries(variables));
  guardProcess({ env: fromMap(env), events: new EventTarget() });
  return Object.fromEntries(env);
}

function fromMap(env: Map<string, string>) {
  return {
    get: (name: string) => env.get(name),
    set: (name: string, value: string) => void env.set(name, value),
    delete: (name: string) => void env.delete(name),
  };
}

Deno.test("the local endpoint keeps its address, and endpoints of this machine are read without a proxy", () => {
  const NO_PROXY = "localhost,127.0.0.1,::1";
  assert.deepEqual(guarded({ DENO_SERVE_ADDRESS: "tcp:0.0.0.0:1" }), { NO_PROXY });
  assert.equal(guarded({ NO_PROXY: "a.example" }).NO_PROXY, `a.example,${NO_PROXY}`);
  assert.equal(guarded({ no_proxy: "b.example" }).NO_PROXY, `b.example,${NO_PROXY}`);
});

Deno.test("a fault does not end the process", () => {
  const events = new EventTarget();
  guardProcess({ env: fromMap(new Map()), events });
  const fault = new ErrorEvent("error", { message: "broken", cancelable: true });
  assert.equal(events.dispatchEvent(fault), false);
});
