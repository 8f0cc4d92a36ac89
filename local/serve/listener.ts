/** The socket of the local endpoint. It never keeps the workload from running. */

import { errorText } from "../base/log.ts";

/** Where to listen. */
export interface ListenerOptions {
  host: string;
  port: number;
  /** Whether the user named the port: then it is an error if it is taken. */
  named: boolean;
}

/** A socket that answers once it has a handler. */
export interface Listener {
  readonly host: string;
  /** The URL at which it answers; `null` if it cannot listen. */
  readonly url: string | null;
  /** Tells the user where it listens instead of where it was asked to; `null` if it listens there. */
  readonly notice: string | null;
  /** Starts to answer with `handler`. */
  serve(handler: (request: Request) => Promise<Response>): void;
  /** Stops listening; requests under way have a moment to end. */
  close(): Promise<void>;
}

/** The default address of the endpoint. */
export const DEFAULT_HOST = "127.0.0.1";

/** The default port of the endpoint. */
export const DEFAULT_PORT = 18259;

/** How long requests under way may take once the workload has ended. */
const SHUTDOWN_MS = 500;

/**
 * Checks that what the user named can be had, and does not keep it.
 *
 * @throws {Error} If the port or the host cannot be had.
 */
export function checkListener({ host, port, named }: ListenerOptions): void {
  if (!named && host === DEFAULT_HOST) return;
  try {
    Deno.listen({ hostname: host, port: named ? port : 0 }).close();
  } catch (error) {
    throw new Error(`cannot listen on ${host}:${port}: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Deno.errors.AddrInUse ? "the port is in use" : errorText(error);
}

/** Takes the port, or a free one where it is taken. */
export function openListener({ host, port }: Omit<ListenerOptions, "named">): Listener {
  const handler = Promise.withResolvers<(request: Request) => Promise<Response>>();
  const open = (port: number) =>
    Deno.serve({
      hostname: host,
      port,
      onListen: () => {},
      onError: () => new Response(null, { status: 500 }),
    }, async (request) => (await handler.promise)(request));
  const { server, reason } = openFirst([port, 0], open);
  const url = server
    ? `http://${host.includes(":") ? `[${host}]` : host}:${server.addr.port}`
    : null;
  const instead = url === null ? "nothing is served" : `/signals is served at ${url}`;
  return {
    host,
    url,
    notice: reason === null ? null : `cannot listen on ${host}:${port}: ${reason}; ${instead}`,
    serve: (handle) => handler.resolve(handle),
    async close() {
      let patience: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([
        server?.shutdown(),
        new Promise((resolve) => patience = setTimeout(resolve, SHUTDOWN_MS)),
      ]);
      clearTimeout(patience);
    },
  };
}

/** The listener of a run that is over: nobody can ask it. */
export function noListener(host: string): Listener {
  return { host, url: null, notice: null, serve() {}, close: () => Promise.resolve() };
}

/** A server on the first of `ports` that can be had, and the reason why the very first cannot. */
function openFirst<Server>(
  ports: readonly number[],
  open: (port: number) => Server,
): { server: Server | null; reason: string | null } {
  let reason: string | null = null;
  for (const port of ports) {
    try {
      return { server: open(port), reason };
    } catch (error) {
      reason ??= reasonOf(error);
    }
  }
  return { server: null, reason };
}
