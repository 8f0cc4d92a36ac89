/** The local endpoint: `/signals` and `/health` on the profiled machine. */

import {
  encode,
  onlyKnown,
  type Problem,
  readSelection,
  ShapeError,
  type Signals,
  snapshot,
  type Tags,
  type Window,
} from "@service/core";
import { gzip } from "./gzip.ts";

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
}

/** A metric not updated for so long leaves the report. */
const STALE_NS = 600_000_000_000n;

/** Answers of one tick that are kept, each for another query or encoding. */
const MAX_CACHED = 16;

/** The handler of all requests to the local endpoint. */
export function createEndpoint(options: EndpointOptions): (request: Request) => Promise<Response> {
  const { total, host, ready } = options;
  const cache = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  let cached_ns = -1n;

  function body(query: URLSearchParams, compressed: boolean): Promise<Uint8Array<ArrayBuffer>> {
    if (cached_ns !== total.to_ns || cache.size >= MAX_CACHED) cache.clear();
    cached_ns = total.to_ns;
    const key = `${compressed} ${query}`;
    const made = cache.get(key) ?? render(localSignals(options, query), compressed);
    cache.set(key, made);
    return made;
  }

  return async function endpoint(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const refusal = refused(request, url, host);
    if (refusal) return refusal;
    await ready;
    const path = url.pathname.replace(/(?<=.)\/$/, "");
    try {
      if (path === "/health") {
        onlyKnown(url.searchParams, []);
        return answer(request, new TextEncoder().encode('{"status":"ok"}'), false);
      }
      onlyKnown(url.searchParams, ["metrics", "top"]);
      const compressed = acceptsGzip(request.headers.get("accept-encoding") ?? "");
      return answer(request, await body(url.searchParams, compressed), compressed);
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      const { path: parameter, fault: message } = error;
      return problem(400, `The parameter ${parameter} ${message}`, [{ parameter, message }]);
    }
  };
}

/** The payload of the local endpoint: everything since the instance start, without what went stale. */
export function localSignals(
  { total, context, version, now_ns }: Pick<
    EndpointOptions,
    "total" | "context" | "version" | "now_ns"
  >,
  query: URLSearchParams = new URLSearchParams(),
): Signals {
  return snapshot(total, {
    profiler: { version },
    context,
    updatedSince_ns: now_ns() - STALE_NS,
    selection: readSelection(query),
  });
}

function render(signals: Signals, compressed: boolean): Promise<Uint8Array<ArrayBuffer>> {
  const text = encode(signals);
  return compressed ? gzip(text) : Promise.resolve(new TextEncoder().encode(text));
}

/** A web page must not read this through the user's browser: a foreign `Host` or `Origin` gets nothing. */
function refused(request: Request, url: URL, host: string): Response | undefined {
  const origin = request.headers.get("origin");
  const foreign = [url.hostname, ...(origin === null ? [] : [URL.parse(origin)?.hostname ?? ""])]
    .find((name) => !isOurs(name, host));
  if (foreign !== undefined) {
    const detail = `This endpoint answers for localhost and ${host} only: got ${
      JSON.stringify(foreign)
    }. Name the host with --listen-host to be reached as it.`;
    return problem(403, detail, [{ parameter: "Host", message: detail }]);
  }
  if (!/^\/(signals|health)\/?$/.test(url.pathname)) {
    return problem(404, "There is nothing at this path: /signals and /health are served here.");
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    const response = problem(405, "This path answers to GET and HEAD.");
    response.headers.set("allow", "GET, HEAD");
    return response;
  }
}

function isOurs(name: string, host: string): boolean {
  const bare = name.replace(/^\[|\]$/g, "").toLowerCase();
  if (bare === "localhost" || bare === host.toLowerCase()) return true;
  // Behind a wildcard any address is ours. A rebinding attack needs a name.
  return (host === "0.0.0.0" || host === "::") && (/^[\d.]+$/.test(bare) || bare.includes(":"));
}

function acceptsGzip(header: string): boolean {
  return header.split(",").some((offer) => {
    const [coding = "", ...parameters] = offer.toLowerCase().split(";").map((part) => part.trim());
    return (coding === "gzip" || coding === "*") &&
      !parameters.some((part) => /^q=0(\.0*)?$/.test(part));
  });
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

const TITLES: Record<number, string> = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
};

function problem(status: number, detail: string, errors: Problem["errors"] = []): Response {
  const body: Problem = { type: "about:blank", title: TITLES[status]!, status, detail, errors };
  return Response.json(body, { status, headers: { "content-type": "application/problem+json" } });
}
