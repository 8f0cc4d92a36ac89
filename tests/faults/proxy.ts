/** A proxy between the hosted API and its database server, which strikes at one statement. */

/** Fate of a request: it passes, its connection is cut, or the proxy answers it. */
export type Verdict = "pass" | "cut" | { status: number; body: string };

/** A fault, and the request that it strikes. */
export interface Fault {
  /** Name of a statement in the request: the comment that it begins with. Any by default. */
  step?: string;
  /** Before the server has the request, or when its answer begins. */
  when: "asked" | "answered";
  /** Share of the answer that has passed before, 0 to 1. */
  part?: number;
  /** The fault itself. */
  strike?: () => Promise<unknown>;
  /** Fate of the request after that; "cut" by default. */
  verdict?: Verdict;
  /** Whether it strikes each such request until it is disarmed. */
  lasts?: boolean;
}

/** A proxy for HTTP that reads requests. */
export interface Proxy extends AsyncDisposable {
  url: string;
  /** Sets the fault; resolves when it has struck. */
  arm: (fault: Fault) => Promise<void>;
  disarm: () => void;
}

const latin1 = new TextDecoder("latin1");

/** Starts a proxy in front of the server at the URL. */
export function startProxy(server: string): Proxy {
  const { hostname, port } = new URL(server);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.TcpConn>();
  let armed: { fault: Fault; struck: () => void } | undefined;

  function meets(text: string, when: Fault["when"]): boolean {
    if (!armed || armed.fault.when !== when) return false;
    const { step } = armed.fault;
    return step === undefined || text.includes(`/* ${step} */`);
  }

  async function judge(text: string, when: Fault["when"]): Promise<Verdict> {
    if (!armed || !meets(text, when)) return "pass";
    const { fault: { lasts, strike, verdict = "cut" }, struck } = armed;
    if (!lasts) armed = undefined;
    await strike?.();
    struck();
    return verdict;
  }

  async function serve(client: Deno.TcpConn): Promise<void> {
    const upstream = await Deno.connect({ hostname, port: Number(port) }).catch(() => null);
    if (!upstream) return close(client);
    open.add(client).add(upstream);
    const ask = { text: "" };
    const answers = (async () => {
      for await (const bytes of upstream.readable) {
        const text = ask.text;
        ask.text = "";
        const passed = meets(text, "answered") ? bytes.length * (armed?.fault.part ?? 0) : 0;
        await writeAll(client, bytes.subarray(0, passed));
        if (text && await judge(text, "answered") === "cut") return;
        await writeAll(client, bytes.subarray(passed));
      }
    })();
    const requests = (async () => {
      for await (const { bytes, text } of requestsOf(client)) {
        ask.text = text;
        const verdict = await judge(text, "asked");
        if (verdict === "cut") return;
        if (verdict === "pass") await writeAll(upstream, bytes);
        else await writeAll(client, responseOf(verdict));
      }
    })();
    await Promise.race([answers, requests]).catch(() => {});
    for (const connection of [client, upstream]) close(connection);
    await Promise.allSettled([answers, requests]);
  }

  function close(connection: Deno.TcpConn): void {
    open.delete(connection);
    try {
      connection.close();
    } catch {
      // The other side has closed it.
    }
  }

  const serving = (async () => {
    const all: Promise<void>[] = [];
    for await (const client of listener) all.push(serve(client));
    await Promise.all(all);
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    arm: (fault) => new Promise((struck) => armed = { fault, struck }),
    disarm: () => armed = undefined,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of open) close(connection);
      await serving;
    },
  };
}

/** The requests of a connection, each whole. */
async function* requestsOf(client: Deno.TcpConn) {
  let bytes = new Uint8Array();
  for await (const more of client.readable) {
    bytes = joined(bytes, more);
    for (;;) {
      const text = latin1.decode(bytes);
      const head = text.indexOf("\r\n\r\n");
      if (head < 0) break;
      const length = head + 4 +
        Number(/content-length: *(\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
      if (bytes.length < length) break;
      yield { bytes: bytes.slice(0, length), text: text.slice(0, length) };
      bytes = bytes.slice(length);
    }
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

async function writeAll(to: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}

function responseOf({ status, body }: { status: number; body: string }): Uint8Array {
  return new TextEncoder().encode(
    `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  );
}
