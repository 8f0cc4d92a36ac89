/** Endpoints that are slow, broken or endless are bounded, and explained once. */

import assert from "node:assert/strict";
import { DONE, scraping, serve, value } from "./testdata/scraping.ts";

/** A server that answers with bytes of its own. */
function raw(answer: (connection: Deno.Conn) => Promise<void>) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const serving = (async () => {
    for await (const connection of listener) {
      open.add(connection);
      await connection.read(new Uint8Array(4_096)).catch(() => null);
      answer(connection).catch(() => {}).finally(() => {
        if (open.delete(connection)) connection.close();
      });
    }
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}/metrics`,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving.catch(() => {});
      for (const connection of open) connection.close();
      open.clear();
    },
  };
}

const bytes = (text: string) => new TextEncoder().encode(text);

const head = (length: number) =>
  `HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4\r\ncontent-length: ${length}\r\n\r\n`;

const MISBEHAVING: [
  what: string,
  why: RegExp,
  kept: number | undefined,
  answer: (connection: Deno.Conn) => Promise<void>,
][] = [
  [
    "never answers",
    /Cannot read .* it took longer than 0\.2 s$/,
    undefined,
    () => new Promise(() => {}),
  ],
  [
    "hangs in the middle",
    /line 2: the page broke off: it took longer/,
    undefined,
    async (connection) => {
      await connection.write(bytes(head(1e6) + DONE));
      await new Promise(() => {});
    },
  ],
  ["breaks off in the middle", /line 5: the page broke off/, 3, async (connection) => {
    await connection.write(
      bytes(`${head(1e6)}${DONE}# TYPE d counter\nd{a="b"} 2\nd{a="c"} 3\nd{a="`),
    );
  }],
  ["answers with 404", /it answers 404$/, undefined, async (connection) => {
    await connection.write(bytes("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"));
  }],
  ["redirects to another host", /redirects to another host/, undefined, async (connection) => {
    await connection.write(
      bytes(
        "HTTP/1.1 302 Found\r\nlocation: http://192.0.2.1/metrics\r\ncontent-length: 0\r\n\r\n",
      ),
    );
  }],
  ["redirects to itself", /redirects again and again/, undefined, async (connection) => {
    await connection.write(
      bytes(
        "HTTP/1.1 302 Found\r\nlocation: /metrics\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
      ),
    );
  }],
  ["speaks no HTTP", /Cannot read/, undefined, async (connection) => {
    await connection.write(bytes("220 mail.example.com ESMTP\r\n"));
  }],
  ["answers JSON", /line 1: /, undefined, async (connection) => {
    await connection.write(bytes(`${head(3)}[]\n`));
  }],
];
for (const [what, why, kept, answer] of MISBEHAVING) {
  Deno.test(`an endpoint that ${what} is bounded and explained once`, async () => {
    await using server = raw(answer);
    await using source = scraping(server.url, { limit_ms: 200 });
    const payload = await source.until((payload) =>
      value(payload, "profiler_scrape_failures_total")! >= 2
    );
    assert.equal(payload.errors.length, 1, JSON.stringify(payload.errors, (_, v) => String(v)));
    assert.match(payload.errors[0]!.message, why);
    assert.equal(value(payload, "c"), kept);
    assert.equal(value(payload, "d"), undefined);
    assert.equal(value(payload, "profiler_capture_state"), 0);
  });
}

Deno.test("an endpoint that answers 200 MB is cut off, explained once, and what came first is kept", async () => {
  let sent = 0;
  const block = bytes('m{a="b"} 1\n'.repeat(100_000));
  const { server, url } = serve(() => {
    let first = true;
    sent = 0;
    return new Response(
      new ReadableStream({
        pull(controller) {
          controller.enqueue(first ? bytes(DONE) : block);
          first = false;
          sent += block.length;
          if (sent > 200e6) controller.close();
        },
      }),
    );
  });
  {
    await using source = scraping(url, { period_ms: 200, maxBytes: 4 * 2 ** 20 });
    const payload = await source.until((payload) =>
      value(payload, "profiler_scrape_failures_total")! >= 2
    );
    assert.equal(payload.errors.length, 1);
    assert.match(payload.errors[0]!.message, /the page is larger than 4 MiB and was cut off$/);
    assert.equal(value(payload, "c"), 3);
    assert(sent < 50e6, `${sent} bytes were taken`);
  }
  await server.shutdown();
});
