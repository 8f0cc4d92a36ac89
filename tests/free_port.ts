/** A free port for a server that cannot choose one. */

/** Below the ports that the kernel gives to others meanwhile, and without usual ports of engines. */
const [FIRST, COUNT] = [20_000, 9_000];

/** A port of 127.0.0.1 on which nothing listens, nor on the next one. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (isFree(port) && isFree(port + 1)) return port;
  }
}

function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
