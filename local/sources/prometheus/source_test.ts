/** Scrapes of endpoints: formats, keys, outages, and answers that are slow, broken or endless. */

import assert from "node:assert/strict";
import { type Signals, snapshot } from "@service/core";
import { createPrometheusSource, type PrometheusOptions } from "./source.ts";
import type { Holder } from "./listeners.ts";
import { Recorder } from "../recorder.ts";
import { Accumulator } from "../../watch/accumulator.ts";

interface Scraped extends AsyncDisposable {
  /** The payload once `done` holds of it. */
  until(done: (payload: Signals) => boolean): Promise<Signals>;
  settle(): Promise<Signals>;
  hurry(): void;
}

/** A source of `url` that is sampled all the time. */
function scraping(url: string, options: Partial<PrometheusOptions> = {}): Scraped {
  const source = createPrometheusSource({
    url,
    own: true,
    start_seconds: 0,
    period_ms: 10,
    limit_ms: 1_000,
    ...options,
  });
  const accumulator = new Accumulator(0n);
  let now_ns = 0n;
  const recorder = new Recorder(0n, () => now_ns);
  let settled: Promise<void> | undefined;
  const sample = async () => {
    now_ns++;
    await source.sample(recorder);
    accumulator.add(recorder.cut(now_ns));
    return snapshot(accumulator.total, { context: {} });
  };
  const settle = () => settled ??= source.settle!();
  return {
    async until(done) {
      for (let i = 0; i < 3_000; i++) {
        const payload = await sample();
        if (done(payload)) return payload;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error("Cannot wait any longer");
    },
    async settle() {
      await settle();
      return await sample();
    },
    hurry: () => source.hurry!(),
    [Symbol.asyncDispose]: settle,
  };
}

function value({ metrics }: Signals, name: string): number | undefined {
  const stats = metrics.find((metric) => metric.name === name)?.stats;
  return stats &&
    ("total" in stats ? Number(stats.total) : Number("value" in stats && stats.value));
}

function serve(handler: Deno.ServeHandler, port = 0) {
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, handler);
  return { url: `http://127.0.0.1:${server.addr.port}/metrics`, server };
}

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

Deno.test("it asks for both formats, takes gzip, and a login of the URL", async () => {
  let asked: Headers | undefined;
  const { server, url } = serve(async ({ headers }) => {
    asked = headers;
    const body = new Blob(["# TYPE c counter\nc_total 3\n# EOF\n"]).stream()
      .pipeThrough(new CompressionStream("gzip"));
    return new Response(await new Response(body).bytes(), {
      headers: {
        "content-type": "application/openmetrics-text; version=1.0.0; charset=utf-8",
        "content-encoding": "gzip",
      },
    });
  });
  {
    await using source = scraping(url.replace("http://", "http://me:s3cret@"));
    const payload = await source.until((payload) => value(payload, "c_total") === 3);
    assert(!JSON.stringify(payload.metrics.map(({ tags }) => tags)).includes("s3cret"));
  }
  assert.match(
    asked!.get("accept")!,
    /^application\/openmetrics-text;.*text\/plain;version=0\.0\.4/,
  );
  assert.match(asked!.get("accept-encoding")!, /gzip/);
  assert.equal(asked!.get("authorization"), `Basic ${btoa("me:s3cret")}`);
  await server.shutdown();
});

Deno.test("a key is given as a bearer's, is read for each scrape, and is never shown", async () => {
  const { server, url } = serve(({ headers }) =>
    headers.get("authorization") === "Bearer s3cret"
      ? new Response("# TYPE c counter\nc 3\n")
      : new Response(null, { status: 401 })
  );
  {
    const keys = [undefined, "old", "s3cret"];
    const key = () => keys.length > 1 ? keys.shift() : keys[0];
    await using source = scraping(url, { key });
    const payload = await source.until((payload) => value(payload, "c") === 3);
    assert.deepEqual(payload.errors.map(({ message }) => message.replace(/.*: it/, "it")), [
      "it answers 401",
      "it answers 401, and no key is known: write it to a file that SERVICE_METRICS_KEY_FILE names",
    ]);
    assert(!JSON.stringify(payload, (_, v) => String(v)).includes("s3cret"));
    await using other = scraping(url, { key: () => "wrong" });
    const refused = await other.until(({ errors }) => errors.length > 0);
    assert.match(refused.errors[0]!.message, /it answers 401$/);
  }
  await server.shutdown();
});

Deno.test("an endpoint that is not up yet is waited for without a word, and counts from zero", async () => {
  const { server: first, url } = serve(() => new Response());
  const { port } = first.addr;
  await first.shutdown();
  await using source = scraping(url, { own: false });
  const waiting = await source.until((payload) => value(payload, "profiler_scrapes_total") === 0);
  assert.equal(value(waiting, "profiler_capture_state"), 0);
  let loading = 3;
  const { server } = serve(
    () =>
      loading-- > 0 ? new Response(null, { status: 503 }) : new Response("# TYPE c counter\nc 9\n"),
    port,
  );
  const payload = await source.until((payload) => value(payload, "c") !== undefined);
  assert.equal(value(payload, "c"), 9);
  assert.equal(value(payload, "profiler_capture_state"), 1);
  assert.deepEqual(payload.errors, []);
  assert.equal(value(payload, "profiler_scrape_failures_total"), 0);
  await server.shutdown();
});

Deno.test("an endpoint elsewhere that was there before counts from its first scrape", async () => {
  let counted = 100;
  const { server, url } = serve(() => new Response(`# TYPE c counter\nc ${counted++}\n`));
  {
    await using source = scraping(url, { own: false });
    const payload = await source.until((payload) => value(payload, "profiler_scrapes_total")! >= 3);
    assert.equal(value(payload, "c"), value(payload, "profiler_scrapes_total")! - 1);
  }
  await server.shutdown();
});

Deno.test("an endpoint that comes back keeps its totals, and the outage is told once", async () => {
  const { server, url } = serve(() => new Response("# TYPE c counter\nc 5\n"));
  await using source = scraping(url);
  await source.until((payload) => value(payload, "c") === 5);
  await server.shutdown();
  await source.until((payload) => value(payload, "profiler_scrape_failures_total")! >= 2);
  const again = serve(() => new Response("# TYPE c counter\nc 2\n"), server.addr.port);
  const payload = await source.until((payload) => value(payload, "c") !== 5);
  assert.equal(value(payload, "c"), 7);
  assert.deepEqual(payload.errors.map(({ message, level }) => [level, message]), [
    ["warning", `service-run: Cannot read ${url}: nothing listens there`],
  ]);
  await again.server.shutdown();
});

Deno.test("settling reads a last time; where the endpoint is gone the last scrape stands", async () => {
  let counted = 1;
  const { server, url } = serve(() => new Response(`# TYPE c counter\nc ${counted++}\n`));
  const source = scraping(url, { period_ms: 60_000 });
  await source.until((payload) => value(payload, "c") === 1);
  assert.equal(value(await source.settle(), "c"), 2);
  const other = scraping(url, { period_ms: 60_000 });
  await other.until((payload) => value(payload, "c") === 3);
  await server.shutdown();
  const last = await other.settle();
  assert.equal(value(last, "c"), 3);
  assert.deepEqual(last.errors, []);
});

Deno.test("a signal to the workload reads at once, and then an endpoint that is gone is no failure", async () => {
  let counted = 1;
  const { server, url } = serve(() => new Response(`# TYPE c counter\nc ${counted++}\n`));
  await using source = scraping(url, { period_ms: 60_000 });
  await source.until((payload) => value(payload, "c") === 1);
  source.hurry();
  await source.until((payload) => value(payload, "c") === 2);
  await server.shutdown();
  source.hurry();
  const last = await source.settle();
  assert.equal(value(last, "c"), 2);
  assert.equal(value(last, "profiler_scrape_failures_total"), 0);
  assert.equal(value(last, "profiler_capture_state"), 1);
  assert.deepEqual(last.errors, []);
});

Deno.test("a port that another process holds is not read until one of the run holds it", async () => {
  let counted = 100;
  let holder: Holder = { is: "other", who: "process 7 (engine)" };
  const { server, url } = serve(() => new Response(`# TYPE c counter\nc ${counted++}\n`));
  {
    await using source = scraping(url, { holder: () => Promise.resolve(holder) });
    const foreign = await source.until(({ errors }) => errors.length > 0);
    assert.match(
      foreign.errors[0]!.message,
      /Cannot read .*: its port belongs to process 7 \(engine\), which is not of this run$/,
    );
    assert.equal(value(foreign, "profiler_capture_state"), 0);
    assert.equal(counted, 100, "not one request");
    counted = 3;
    holder = { is: "run", sockets: "1" };
    const own = await source.until((payload) => value(payload, "c") !== undefined);
    assert(value(own, "c")! < 100);
    holder = { is: "other", who: "process 8" };
    await source.until(({ errors }) => errors.length > 1);
    const asked = counted;
    assert.equal(value(await source.settle(), "c"), asked - 1);
    assert.equal(counted, asked);
  }
  await server.shutdown();
});

for (const [is, total] of [["run", 5], ["unknown", 5], ["other", 0]] as const) {
  Deno.test(`a port that the user names is read; one held by ${is} counts ${total} of 5`, async () => {
    const { server, url } = serve(() => new Response("# TYPE c counter\nc 5\n"));
    {
      const holder: Holder = is === "other" ? { is, who: "process 7" } : { is, sockets: "1" };
      await using source = scraping(url, { named: true, holder: () => Promise.resolve(holder) });
      const payload = await source.until((payload) => value(payload, "c") !== undefined);
      assert.equal(value(payload, "c"), total);
      assert.equal(payload.errors.length, is === "other" ? 1 : 0);
    }
    await server.shutdown();
  });
}

Deno.test("a server that another process starts after the run counts from zero", async () => {
  const { server: first, url } = serve(() => new Response());
  const { port } = first.addr;
  await first.shutdown();
  let holder: Holder = { is: "unknown" };
  await using source = scraping(url, { named: true, holder: () => Promise.resolve(holder) });
  await source.until((payload) => value(payload, "profiler_scrapes_total") === 0);
  holder = { is: "other", who: "process 7 (docker-proxy)" };
  const { server } = serve(() => new Response("# TYPE c counter\nc 5\n"), port);
  const payload = await source.until((payload) => value(payload, "c") !== undefined);
  assert.equal(value(payload, "c"), 5);
  await server.shutdown();
});

Deno.test("a signal during a scrape reads again after it: that one may show less", async () => {
  const asked: PromiseWithResolvers<Response>[] = [];
  const { server, url } = serve(() => {
    asked.push(Promise.withResolvers());
    return asked.at(-1)!.promise;
  });
  {
    await using source = scraping(url, { period_ms: 60_000 });
    await source.until(() => asked.length === 1);
    source.hurry();
    asked[0]!.resolve(new Response("# TYPE c counter\nc 1\n"));
    await source.until(() => asked.length === 2);
    asked[1]!.resolve(new Response("# TYPE c counter\nc 2\n"));
    await source.until((payload) => value(payload, "c") === 2);
    const settled = source.settle();
    await source.until(() => asked.length === 3);
    asked[2]!.resolve(new Response("# TYPE c counter\nc 3\n"));
    assert.equal(value(await settled, "c"), 3);
  }
  await server.shutdown();
});

Deno.test("at most a second is lost where an engine dies without a signal from here", async () => {
  const asked_ms: number[] = [];
  const { server, url } = serve(() => {
    asked_ms.push(performance.now());
    return new Response(DONE);
  });
  {
    await using source = scraping(url, { period_ms: undefined });
    await source.until(() => asked_ms.length === 3);
    assert(asked_ms[2]! - asked_ms[0]! < 3_000, `${asked_ms}`);
  }
  await server.shutdown();
});

Deno.test("an endpoint that takes long is asked for a fifth of the time at most", async () => {
  const started_ms: number[] = [];
  const { server, url } = serve(async () => {
    started_ms.push(performance.now());
    await new Promise((resolve) => setTimeout(resolve, 50));
    return new Response(DONE);
  });
  {
    await using source = scraping(url);
    await source.until(() => started_ms.length === 3);
    assert(started_ms[2]! - started_ms[0]! >= 450, `${started_ms}`);
  }
  await server.shutdown();
});

const DONE = "# TYPE c counter\nc 3\n";
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

Deno.test("NaN and infinities never reach a payload", async () => {
  const { server, url } = serve(() =>
    new Response("# TYPE a gauge\na NaN\n# TYPE b counter\nb +Inf\n# TYPE c counter\nc 1\n")
  );
  {
    await using source = scraping(url);
    const payload = await source.until((payload) => value(payload, "c") === 1);
    assert.deepEqual([value(payload, "a"), value(payload, "b")], [undefined, undefined]);
    assert.deepEqual(payload.errors, []);
  }
  await server.shutdown();
});

Deno.test("targets among others carry a tag that tells them apart", async () => {
  const { server, url } = serve(() => new Response(DONE));
  {
    await using source = scraping(url, { among: true });
    const payload = await source.until((payload) => value(payload, "c") === 3);
    assert.deepEqual(payload.metrics.find(({ name }) => name === "c")!.tags, {
      "metrics.url": url,
    });
  }
  await server.shutdown();
});
