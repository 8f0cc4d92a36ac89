/** The local endpoint: `/signals` and `/health` on the profiled machine. */

import {
  encode,
  type Selection,
  type Signals,
  snapshot,
  type Tags,
  type Window,
} from "@service/core";
import { acceptsGzip, problemAnswer } from "@service/core/http";
import { Refusal, refuse, refuseMethod } from "@service/core/problem";
import { readQuery, selectionParameters } from "@service/core/query";
import { gzip } from "../base/gzip.ts";

/** What the endpoint serves, and to whom. */
export interface EndpointOptions {
  /** Everything since the instance start. */
  total: Window;
  context: Tags;
  version: string;
  /** The address it listens on: which `Host` a request may name. */
  host: string;
  now_ns: () => bigint;
  /** Resolves once there is a first measurement to answer with. */
  ready: Promise<void>;
  /** Brings `total` up to now where that takes milliseconds; it is called for every request. */
  refresh?: () => Promise<void> | undefined;
}

/** A metric not updated for so long leaves the report. */
const STALE_NS = 600_000_000_000n;

/** Answers of one tick that are kept, each for another query or encoding. */
const MAX_CACHED = 16;

/** The handler of all requests to the local endpoint. */
export function createEndpoint(options: EndpointOptions): (request: Request) => Promise<Response> {
  const { total, host, ready, refresh } = options;
  const cache = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  let cached_ns = -1n;

  function body(query: URLSearchParams, compressed: boolean): Promise<Uint8Array<ArrayBuffer>> {
    if (cached_ns !== total.to_ns || cache.size >= MAX_CACHED) cache.clear();
    cached_ns = total.to_ns;
    const key = `${compressed} ${query}`;
    const made = cache.get(key) ??
      render(localSignals(options, readQuery(query, selectionParameters)), compressed);
    cache.set(key, made);
    return made;
  }

  return async function endpoint(request: Request): Promise<Response> {
    const url = new URL(request.url);
    try {
      checkRequest(request, url, host);
      await ready;
      if (/^\/health/.test(url.pathname)) {
        readQuery(url.searchParams, {});
        return answer(request, new TextEncoder().encode('{"status":"ok"}'), false);
      }
      const refreshing = refresh?.();
      if (refreshing) await refreshing;
      const compressed = acceptsGzip(request.headers.get("accept-encoding"));
      return answer(request, await body(url.searchParams, compressed), compressed);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { body, ...init } = problemAnswer(error);
      return new Response(body, init);
    }
  };
}

/** The payload of the local endpoint: everything since the instance start, without what went stale. */
export function localSignals(
  { total, context, version, now_ns }: Pick<
    EndpointOptions,
    "total" | "context" | "version" | "now_ns"
  >,
  selection: Selection = {},
): Signals {
  return snapshot(total, {
    profiler: { version },
    context,
    updatedSince_ns: now_ns() - STALE_NS,
    selection,
  });
}

function render(signals: Signals, compressed: boolean): Promise<Uint8Array<ArrayBuffer>> {
  const text = encode(signals);
  return compressed ? gzip(text) : Promise.resolve(new TextEncoder().encode(text));
}

/**
 * Refuses what is not asked for `/signals` or `/health` by whom it may be: a web page must not read
 * this through the user's browser, so a foreign `Host` or `Origin` gets nothing.
 */
function checkRequest({ method, headers }: Request, url: URL, host: string): void {
  const origin = headers.get("origin");
  const named = { Host: url.hostname, Origin: origin && (URL.parse(origin)?.hostname ?? origin) };
  for (const [parameter, name] of Object.entries(named)) {
    if (name === null || isOurs(name, host)) continue;
    const message = `must be localhost or ${host}: got ${JSON.stringify(name.slice(0, 80))}`;
    throw refuse(403, `${parameter} ${message}; --listen-host names another host to answer as`, [
      { parameter, message },
    ]);
  }
  if (!/^\/(signals|health)\/?$/.test(url.pathname)) {
    throw refuse(404, "There is nothing at this path: /signals and /health are served here");
  }
  if (method !== "GET" && method !== "HEAD") {
    throw refuseMethod(method, ["GET", "HEAD"]);
  }
}

function isOurs(name: string, host: string): boolean {
  const bare = name.replace(/^\[|\]$/g, "").toLowerCase();
  if (bare === "localhost" || bare === host.toLowerCase()) return true;
  // Behind a wildcard any address is ours. A rebinding attack needs a name.
  return (host === "0.0.0.0" || host === "::") && (/^[\d.]+$/.test(bare) || bare.includes(":"));
}

function answer(request: Request, body: Uint8Array<ArrayBuffer>, compressed: boolean): Response {
  return new Response(request.method === "HEAD" ? null : body, {
    headers: {
      "content-type": "application/json",
      "content-length": String(body.length),
      "cache-control": "no-store",
      "vary": "accept-encoding",
      ...(compressed && { "content-encoding": "gzip" }),
    },
  });
}
