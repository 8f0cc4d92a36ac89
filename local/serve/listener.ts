/** The socket of the local endpoint. It never keeps the workload from running. */

/** Where to listen. */
export interface ListenerOptions {
  host: string;
  port: number;
  /** Whether the user named the port: then it is an error if it is taken. */
  named: boolean;
}

/** A socket, open or waited for. */
export interface Listener {
  readonly host: string;
  /** The URL at which it answers, or will answer once the port is free. */
  url(): string;
  /** Starts to answer with `handler`. */
  serve(
    handler: (request: Request) => Promise<Response>,
    warn: (message: string) => void,
  ): void;
  /** Stops listening; requests under way have a moment to end. */
  close(): Promise<void>;
}

/** The default address of the endpoint. */
export const DEFAULT_HOST = "127.0.0.1";

/** The default port of the endpoint. */
export const DEFAULT_PORT = 18259;

const RETRY_MS = 1_000;

/** How long requests under way may take once the workload has ended. */
const SHUTDOWN_MS = 500;

/**
 * Checks that the port can be had, and does not keep it.
 *
 * @throws {Error} If the user named the port or a host, and it cannot be had.
 */
export function checkListener(options: ListenerOptions): void {
  try {
    Deno.listen({ hostname: options.host, port: options.port }).close();
  } catch (error) {
    reasonOf(options, error);
  }
}

/**
 * The reason why the port cannot be had now.
 *
 * @throws {Error} With this reason, if the user named the port or a host.
 */
function reasonOf({ host, port, named }: ListenerOptions, error: unknown): string {
  const inUse = error instanceof Deno.errors.AddrInUse;
  const reason = `cannot listen on ${host}:${port}: ${inUse ? "the port is in use" : error}`;
  if (named || (!inUse && host !== DEFAULT_HOST)) throw new Error(reason, { cause: error });
  return reason;
}

/**
 * Takes the port, or waits for it while another program holds it.
 *
 * @throws {Error} If the user named the port or a host, and it cannot be had.
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
    waiting = reasonOf(options, error);
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
