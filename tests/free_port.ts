/** A free port for a server that cannot choose one. */

/** A port of 127.0.0.1 on which nothing listens. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
