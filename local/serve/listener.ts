/** The socket of the local endpoint, which must never stop the workload from running. */

/** Where to listen. */
export interface ListenerOptions {
  host: string;
  port: number;
  /** Whether only this port will do: then one that is taken is a mistake. */
  named: boolean;
}

/** A socket that is ours, or that we wait for. */
export interface Listener {
  readonly host: string;
  /** Where it answers, as a URL; the port asked for while another program holds it. */
  url(): string;
  /** Starts to answer with `handler`. */
  serve(
    handler: (request: Request) => Promise<Response>,
    warn: (message: string) => void,
  ): void;
  /** Listens no more; requests under way have a moment to end. */
  close(): Promise<void>;
}

/** Where the endpoint listens unless told otherwise. */
export const DEFAULT_HOST = "127.0.0.1";

/** The port of the endpoint unless told otherwise. */
export const DEFAULT_PORT = 18259;

const RETRY_MS = 1_000;

/** How long requests under way may take once the workload has ended. */
const SHUTDOWN_MS = 500;

/**
 * Asks whether the port can be had, before the workload starts, and does not keep it.
 *
 * @throws {Error} If the port or a host of the user's own was named and cannot be had.
 */
export function checkListener(options: ListenerOptions): void {
  try {
    Deno.listen({ hostname: options.host, port: options.port }).close();
  } catch (error) {
    refusal(options, error);
  }
}

/** Why the port cannot be had for now; thrown where no other will do. */
function refusal({ host, port, named }: ListenerOptions, error: unknown): string {
  const inUse = error instanceof Deno.errors.AddrInUse;
  const why = `cannot listen on ${host}:${port}: ${inUse ? "the port is in use" : error}`;
  if (named || (!inUse && host !== DEFAULT_HOST)) throw new Error(why, { cause: error });
  return why;
}

/**
 * Takes the port, before the workload starts.
 *
 * @throws {Error} If the port or a host of the user's own was named and cannot be had.
 */
export function openListener(options: ListenerOptions): Listener {
  const { host, port } = options;
  const handler = Promise.withResolvers<(request: Request) => Promise<Response>>();
  let waiting = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let server: Deno.HttpServer<Deno.NetAddr> | undefined;

  function listen(): void {
    server = Deno.serve({
      hostname: host,
      port,
      onListen: () => {},
      onError: () => new Response(null, { status: 500 }),
    }, async (request) => (await handler.promise)(request));
  }

  function retry(): void {
    try {
      listen();
    } catch {
      timer = setTimeout(retry, RETRY_MS);
    }
  }

  try {
    listen();
  } catch (error) {
    waiting = refusal(options, error);
  }
  return {
    host,
    url: () => `http://${host.includes(":") ? `[${host}]` : host}:${server?.addr.port ?? port}`,
    serve(handle, warn) {
      handler.resolve(handle);
      if (!waiting) return;
      warn(`${waiting}; the workload runs, /signals is served there as soon as it is free`);
      timer = setTimeout(retry, RETRY_MS);
    },
    async close() {
      clearTimeout(timer);
      let patience: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([
        server?.shutdown(),
        new Promise((resolve) => patience = setTimeout(resolve, SHUTDOWN_MS)),
      ]);
      clearTimeout(patience);
    },
  };
}
