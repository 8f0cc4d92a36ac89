/** Sources that a test samples all the time, and servers for them to scrape. */

import { type Signals, snapshot } from "@service/core";
import { Accumulator } from "../../../watch/accumulator.ts";
import { Recorder } from "../../recorder.ts";
import { createPrometheusSource, type PrometheusOptions } from "../source.ts";

/** A page with one counter of 3. */
export const DONE: string = "# TYPE c counter\nc 3\n";

/** A source that is sampled all the time. */
export interface Scraped extends AsyncDisposable {
  /** The payload once `done` holds of it. */
  until(done: (payload: Signals) => boolean): Promise<Signals>;
  /** The payload after the last scrape. */
  settle(): Promise<Signals>;
  /** A signal was sent to the workload. */
  hurry(): void;
}

/** Samples a source of `url`. */
export function scraping(url: string, options: Partial<PrometheusOptions> = {}): Scraped {
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

/** Value of a gauge or total of a counter. */
export function value({ metrics }: Signals, name: string): number | undefined {
  const stats = metrics.find((metric) => metric.name === name)?.stats;
  return stats &&
    ("total" in stats ? Number(stats.total) : Number("value" in stats && stats.value));
}

/** A server on loopback, and the URL of its metrics. */
export function serve(
  handler: Deno.ServeHandler,
  port = 0,
): { url: string; server: Deno.HttpServer<Deno.NetAddr> } {
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, handler);
  return { url: `http://127.0.0.1:${server.addr.port}/metrics`, server };
}
