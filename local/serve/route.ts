/** Routes of the local endpoint: each is found, checked and answered from one value. */

import { acceptsGzip, acceptsText } from "@service/core/http";
import { refuse, refuseMethod } from "@service/core/problem";
import { type QueryParameters, readQuery } from "@service/core/query";

/** A route, ready to be found and answered. */
export interface Route {
  method: "GET";
  path: string;
  /** The answer to a request with the URL `url`. */
  answer(request: Request, url: URL): Promise<Response>;
}

/** A request with its query read. */
export interface RouteRequest<Query> {
  query: Query;
  /** The query as it was sent. */
  search: string;
  acceptsGzip: boolean;
  /** Whether plain text is wanted, and JSON is not. */
  acceptsText: boolean;
  /** Where the request went, such as `http://127.0.0.1:18259`. */
  origin: string;
}

/** A text in bytes. */
export interface JsonBody {
  bytes: Uint8Array<ArrayBuffer>;
  isCompressed: boolean;
  /** Media type; JSON when absent. */
  type?: string;
}

/** Chunks of a media type, each made when the client has read those before it. */
export interface StreamBody {
  type: string;
  stream: AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

/** A route's path and parameters, and how it is answered. */
export interface RouteOptions<Query extends object> {
  method: Route["method"];
  path: string;
  query: QueryParameters<Query>;
  handle(request: RouteRequest<Query>): Promise<JsonBody | StreamBody>;
}

/** The route that `options` describe. */
export function route<Query extends object>(options: RouteOptions<Query>): Route {
  const { method, path, query, handle } = options;
  return {
    method,
    path,
    async answer(request, { searchParams, origin }) {
      const asked = {
        query: readQuery(searchParams, query),
        search: String(searchParams),
        acceptsGzip: acceptsGzip(request.headers.get("accept-encoding")),
        acceptsText: acceptsText(request.headers.get("accept")),
        origin,
      };
      const body = await handle(asked);
      const isHead = request.method === "HEAD";
      return "stream" in body
        ? streamResponse(body, { isHead, isCompressed: asked.acceptsGzip })
        : jsonResponse(body, { isHead });
    },
  };
}

/**
 * The route for a request; HEAD is answered as GET is, without a body.
 *
 * @throws {Refusal} 404 that lists the paths, 405 that lists the methods of the path.
 */
export function findRoute(
  routes: readonly Route[],
  { method, url }: { method: string; url: URL },
): Route {
  const path = url.pathname.replace(/\/$/, "");
  const candidates = routes.filter((route) => route.path === path);
  if (candidates.length === 0) {
    const paths = new Intl.ListFormat("en").format(new Set(routes.map(({ path }) => path)));
    throw refuse(404, `There is nothing at this path: ${paths} are served here`);
  }
  const wanted = method === "HEAD" ? "GET" : method;
  const route = candidates.find((route) => route.method === wanted);
  if (route) return route;
  throw refuseMethod(
    method,
    candidates.flatMap(({ method }) => method === "GET" ? ["GET", "HEAD"] : [method]),
  );
}

function jsonResponse({ bytes, isCompressed, type }: JsonBody, { isHead }: { isHead: boolean }) {
  return new Response(isHead ? null : bytes, {
    headers: {
      "content-type": type ?? "application/json",
      "content-length": String(bytes.length),
      "cache-control": "no-store",
      "vary": "accept, accept-encoding",
      ...(isCompressed && { "content-encoding": "gzip" }),
    },
  });
}

function streamResponse(
  { type, stream }: StreamBody,
  { isHead, isCompressed }: { isHead: boolean; isCompressed: boolean },
): Response {
  const chunks = ReadableStream.from(stream);
  const body = isCompressed ? chunks.pipeThrough(new CompressionStream("gzip")) : chunks;
  return new Response(isHead ? null : body, {
    headers: {
      "content-type": type,
      "cache-control": "no-store",
      "vary": "accept-encoding",
      ...(isCompressed && { "content-encoding": "gzip" }),
    },
  });
}
