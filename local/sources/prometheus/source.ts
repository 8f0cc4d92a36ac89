/** A Prometheus endpoint of the workload: read every few seconds, recorded when a tick comes. */

import type { Tags } from "@service/core";
import type { Exposition } from "./exposition.ts";
import { FamilyReadings } from "./families.ts";
import { createPace } from "../pacing.ts";
import { recordCaptureState } from "../capture_state.ts";
import type { FirstReading } from "../cumulative.ts";
import type { Recorder } from "../recorder.ts";
import type { Source } from "../source.ts";
import { redactText } from "../../base/redact.ts";
import { scrape } from "./scrape.ts";

/** What to scrape. */
export interface PrometheusOptions {
  url: string;
  /** Whether the workload itself is known to serve it: then all that it has counted is the instance's. */
  own: boolean;
  /** Key that it asks for. */
  key?: string;
  /** Whether other targets are scraped too, so that a tag must tell them apart. */
  among?: boolean;
  /** Start of the instance, in epoch seconds. */
  start_seconds: number;
  /** Other times and sizes, for tests. */
  period_ms?: number;
  limit_ms?: number;
  maxBytes?: number;
}

const PERIOD_MS = 5_000;
const LIMIT_MS = 2_000;

/** Pauses while nothing listens: an engine takes its time to load, a small one does not. */
const FIRST_RETRY_MS = 125;

/** Scrapes that may wait for a tick: each has all that those before it counted. */
const MAX_WAITING = 4;

/** Different failures that are told. */
const MAX_TOLD = 10;

/** A source that scrapes from now on until it is settled. */
export function createPrometheusSource(options: PrometheusOptions): Source {
  const { key, period_ms = PERIOD_MS, limit_ms = LIMIT_MS, maxBytes } = options;
  const url = redactText(options.url);
  const tags: Tags = Object.freeze({ "metrics.url": url });
  const readings = new FamilyReadings({ ...options, url, tags: options.among ? tags : {} });
  // An idle connection would keep an engine waiting that shuts down.
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const told = new Set<string>();
  const waiting: Exposition[] = [];
  let untold: string[] = [];
  let first: FirstReading = options.own ? "increase" : "base";
  let scrapes = 0;
  let failures = 0;
  let answered = false;
  let working = false;
  let retry_ms = FIRST_RETRY_MS;
  let settled = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let abort = new AbortController();

  function fail(why: string): void {
    failures++;
    working = false;
    if (told.has(why) || told.size === MAX_TOLD) return;
    told.add(why);
    untold.push(why);
  }

  /** Reads once; how long to wait for the next. */
  async function read(): Promise<number> {
    abort = new AbortController();
    const { signal } = abort;
    const late = `it took longer than ${limit_ms / 1_000} s`;
    const limit = setTimeout(() => abort.abort(new Error(late)), limit_ms);
    const result = await scrape(options.url, { client, key, signal, maxBytes });
    clearTimeout(limit);
    if (result.state === "not up" && (!answered || settled)) {
      // What was not there when the instance had started cannot have counted anything before.
      if (!answered) first = "increase";
      retry_ms = Math.min(2 * retry_ms, period_ms);
      return retry_ms;
    }
    scrapes++;
    if (result.state !== "read") fail(`Cannot read ${url}: ${result.why}`);
    else {
      const { families, fault } = result.exposition;
      answered ||= families.length > 0;
      working = true;
      if (fault) fail(`Cannot read all of ${url}: line ${fault.line}: ${fault.why}`);
      if (families.length > 0) waiting.push(result.exposition);
      if (waiting.length > MAX_WAITING) waiting.shift();
    }
    return period_ms;
  }

  async function follow(): Promise<void> {
    const start_ms = performance.now();
    const pause_ms = await read();
    if (settled) return;
    const rest_ms = Math.max(0, pause_ms - (performance.now() - start_ms));
    timer = setTimeout(() => following = follow(), rest_ms);
  }
  let following = follow();

  return {
    async sample(recorder) {
      let refused = 0;
      const pace = createPace();
      for (const exposition of waiting.splice(0)) {
        refused += await readings.record(exposition, recorder, { first, pace });
      }
      for (const message of untold) {
        recorder.error({ level: "warning", message: `service-run: ${message}`, exception: "" });
      }
      untold = [];
      recordState(recorder);
      recorder.counter("profiler_scrape_refused_series_total", tags, refused);
    },
    async settle() {
      settled = true;
      clearTimeout(timer);
      const limit = setTimeout(() => abort.abort(new Error("the workload has ended")), limit_ms);
      await following;
      // Where the one under way took all the time, there is none left for another.
      if (!abort.signal.aborted) await read();
      clearTimeout(limit);
      client.close();
    },
  };

  function recordState(recorder: Recorder): void {
    recordCaptureState(recorder, {
      capture: "engine_metrics",
      reason: `1 where ${url} is read, 0 where not`,
      captured: working,
    });
    recorder.counter("profiler_scrapes_total", tags, scrapes);
    recorder.counter("profiler_scrape_failures_total", tags, failures);
    scrapes = 0;
    failures = 0;
  }
}
