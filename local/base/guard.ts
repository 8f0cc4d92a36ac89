/** Guards of a process that watches a workload: against the user's network settings and its own faults. */

import { log } from "./log.ts";

const LOOPBACK = "localhost,127.0.0.1,::1";

/** The parts of a process that are guarded: its environment and its global events. */
export interface GuardedProcess {
  env: Pick<Deno.Env, "get" | "set" | "delete">;
  events: EventTarget;
}

/** Guards this process; the workload must have inherited the environment before. */
export function guardProcess({ env, events }: GuardedProcess): void {
  // It would override the address of our server.
  env.delete("DENO_SERVE_ADDRESS");
  // Endpoints of this machine are never read through a proxy.
  const noProxy = env.get("NO_PROXY") ?? env.get("no_proxy");
  env.set("NO_PROXY", [noProxy, LOOPBACK].filter(Boolean).join(","));
  for (const fault of ["error", "unhandledrejection"]) {
    events.addEventListener(fault, (event) => {
      event.preventDefault();
      const reason = event instanceof ErrorEvent
        ? event.message
        : (event as PromiseRejectionEvent).reason;
      log(`a fault in the profiler, the workload goes on: ${reason}`);
    });
  }
}
