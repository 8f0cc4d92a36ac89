/** The local endpoint: a table of routes, served to this machine alone. */

import { problemAnswer } from "@service/core/http";
import { Refusal, refuse } from "@service/core/problem";
import { findRoute, route } from "./route.ts";
import { contextReader, contextRoute, findingsRoute } from "./context.ts";
import { signalsRoute, type SignalsRouteOptions } from "./signals.ts";
import { type WindowStreamOptions, windowStreamRoute } from "./window_stream.ts";

/** The measurements to serve, and the address to serve them at. */
export interface EndpointOptions extends SignalsRouteOptions, WindowStreamOptions {
  /** The address it listens on: which `Host` a request may name. */
  host: string;
  /** Resolves once there is a first measurement to answer with. */
  ready: Promise<void>;
}

const HEALTHY = new TextEncoder().encode('{"status":"ok"}');

const health = route({
  method: "GET",
  path: "/health",
  query: {},
  handle: () => Promise.resolve({ bytes: HEALTHY, isCompressed: false }),
});

/** The handler of all requests to the local endpoint. */
export function createEndpoint(options: EndpointOptions): (request: Request) => Promise<Response> {
  const { host, ready } = options;
  const readContext = contextReader(options);
  const routes = [
    signalsRoute(options),
    windowStreamRoute(options),
    contextRoute(readContext),
    findingsRoute(readContext),
    health,
  ];
  return async function endpoint(request: Request): Promise<Response> {
    const { method, headers } = request;
    const url = new URL(request.url);
    try {
      checkOrigin({ url, headers }, host);
      const requested = findRoute(routes, { method, url });
      await ready;
      return await requested.answer(request, url);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { body, ...init } = problemAnswer(error);
      return new Response(body, init);
    }
  };
}

/**
 * Rejects requests with a foreign `Host` or `Origin` (DNS rebinding): a web page must not read the
 * endpoint through the user's browser.
 */
function checkOrigin({ url, headers }: { url: URL; headers: Headers }, host: string): void {
  const origin = headers.get("origin");
  const named = {
    Host: url.hostname,
    Origin: origin && (URL.parse(origin)?.hostname ?? origin),
  };
  for (const [parameter, name] of Object.entries(named)) {
    if (name === null || isOurs(name, host)) continue;
    const message = `must be localhost or ${host}: got ${JSON.stringify(name.slice(0, 80))}`;
    throw refuse(403, `${parameter} ${message}; --listen-host names another host to answer as`, [
      { parameter, message },
    ]);
  }
}

function isOurs(name: string, host: string): boolean {
  const bare = name.replace(/^\[|\]$/g, "").toLowerCase();
  if (bare === "localhost" || bare === host.toLowerCase()) return true;
  // Behind a wildcard any address is ours. A rebinding attack needs a name.
  return (host === "0.0.0.0" || host === "::") && (/^[\d.]+$/.test(bare) || bare.includes(":"));
}
