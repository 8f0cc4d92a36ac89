/** The source of a Prometheus endpoint: scraped every second, recorded at the next tick. */

import type { Tags } from "@service/core";
import { redactText } from "@service/core/redact";
import { recordCaptureState } from "../capture_state.ts";
import type { FirstReading } from "../cumulative.ts";
import { createPace } from "../pacing.ts";
import type { Recorder } from "../recorder.ts";
import type { Source } from "../source.ts";
import type { Exposition } from "./exposition.ts";
import { FamilyReadings } from "./families.ts";
import type { Holder } from "./listeners.ts";
import { type Scrape, scrape } from "./scrape.ts";

/** The endpoint to scrape, and the instance that it belongs to. */
export interface PrometheusOptions {
  url: string;
  /** Whether the workload is known to serve it: then all that it has counted is the instance's. */
  own: boolean;
  /** Whether it is read also where a process that is not of the run holds its port. */
  named?: boolean;
  /** Tells who holds its port; absent for an endpoint elsewhere. */
  holder?: () => Promise<Holder>;
  /** Reads the key that the endpoint asks for; a file may be written later, and again. */
  key?: () => string | undefined;
  /** Whether other endpoints are scraped too: then a tag identifies each. */
  among?: boolean;
  /** What a read does to the endpoint. */
  effect?: string;
  /** Start of the instance, in epoch seconds. */
  start_seconds: number;
  /** Other times and sizes, for tests. */
  period_ms?: number;
  limit_ms?: number;
  maxBytes?: number;
}

/** An engine that dies takes with it what it has counted since the last scrape. */
const PERIOD_MS = 1_000;
const LIMIT_MS = 2_000;

/** Largest share of the time that scrapes take: an endpoint that takes long is asked less often. */
const MAX_BUSY = 0.2;

/** First pause while nothing listens; it doubles each time, as an engine may take long to load. */
const FIRST_RETRY_MS = 125;

/** Most scrapes that are kept for a tick: the newest, which have all counts of those before. */
const MAX_UNRECORDED = 4;

/** Most different failures that are reported. */
const MAX_FAILURES_REPORTED = 10;

/** A source that scrapes from now on until it is settled. */
export function createPrometheusSource(options: PrometheusOptions): Source {
  return new PrometheusSource(options);
}

class PrometheusSource implements Source {
  readonly #options: PrometheusOptions;
  readonly #period_ms: number;
  readonly #limit_ms: number;
  /** The URL as it is published. */
  readonly #url: string;
  readonly #tags: Tags;
  readonly #readings: FamilyReadings;
  // An idle connection would delay the end of an engine.
  readonly #client: Deno.HttpClient = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  readonly #reported = new Set<string>();
  #warnings: string[] = [];
  readonly #unrecorded: { exposition: Exposition; sockets: string | undefined }[] = [];
  /** The listeners of the run's server at the last scrape, where they are known. */
  #sockets: string | undefined;
  #first: FirstReading;
  #scrapes = 0;
  #failures = 0;
  /** Whether the endpoint was seen not to be up, before it answered. */
  #wasAway = false;
  /** Whether the endpoint has answered with a metric so far. */
  #hasAnswered = false;
  /** Whether the last scrape was read to its end. */
  #isRead = false;
  #retry_ms = FIRST_RETRY_MS;
  /** Whether the endpoint may be gone at any time: that is no failure. */
  #isLeaving = false;
  #isSettled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort = new AbortController();
  /** The scrape under way, or the last one. */
  #following: Promise<void>;

  constructor(options: PrometheusOptions) {
    const { url, own, among, start_seconds, period_ms = PERIOD_MS, limit_ms = LIMIT_MS } = options;
    this.#options = options;
    this.#period_ms = period_ms;
    this.#limit_ms = limit_ms;
    this.#url = redactText(url);
    this.#tags = Object.freeze({ "metrics.url": this.#url });
    const tags = among ? this.#tags : {};
    this.#readings = new FamilyReadings({ url: this.#url, tags, start_seconds });
    this.#first = own ? "increase" : "base";
    this.#following = this.#follow();
  }

  async sample(recorder: Recorder): Promise<void> {
    let refused = 0;
    const { effect } = this.#options;
    const pace = createPace();
    for (const { exposition, sockets } of this.#unrecorded.splice(0)) {
      const options = { first: this.#first, sockets, pace };
      refused += await this.#readings.record(exposition, recorder, options);
    }
    for (const message of this.#warnings.splice(0)) recorder.warn(message);
    recordCaptureState(recorder, {
      capture: "engine_metrics",
      reason: `1 where ${this.#url} is read, 0 where not${effect ? `; each read ${effect}` : ""}`,
      captured: this.#isRead,
    });
    recorder.counter("profiler_scrapes_total", this.#tags, this.#scrapes);
    recorder.counter("profiler_scrape_failures_total", this.#tags, this.#failures);
    recorder.counter("profiler_scrape_refused_series_total", this.#tags, refused);
    this.#scrapes = 0;
    this.#failures = 0;
  }

  hurry(): void {
    if (this.#isSettled) return;
    this.#isLeaving = true;
    // What a scrape under way shows is older than the signal.
    this.#following = this.#following.then(() => this.#follow());
  }

  async settle(): Promise<void> {
    this.#isSettled = true;
    this.#isLeaving = true;
    clearTimeout(this.#timer);
    const limit = setTimeout(
      () => this.#abort.abort(new Error("the workload has ended")),
      this.#limit_ms,
    );
    await this.#following;
    // Where the scrape under way took all the time, there is none left for another.
    if (!this.#abort.signal.aborted) await this.#scrape();
    clearTimeout(limit);
    this.#client.close();
  }

  /** Scrapes, and again after each pause. */
  async #follow(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#isSettled) return;
    const start_ms = performance.now();
    const pause_ms = await this.#scrape();
    if (this.#isSettled) return;
    const took_ms = performance.now() - start_ms;
    const rest_ms = Math.max(pause_ms, took_ms / MAX_BUSY) - took_ms;
    this.#timer = setTimeout(() => this.#following = this.#follow(), rest_ms);
  }

  /** Scrapes once; returns the pause until the next scrape. */
  async #scrape(): Promise<number> {
    if (!await this.#mayRead()) return this.#pauseBeforeRetry();
    const { url, key, maxBytes } = this.#options;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const late = new Error(`it took longer than ${this.#limit_ms / 1_000} s`);
    const limit = setTimeout(() => this.#abort.abort(late), this.#limit_ms);
    const result = await scrape(url, { client: this.#client, key: key?.(), signal, maxBytes });
    clearTimeout(limit);
    const isGone = this.#isLeaving && result.state !== "read";
    if (isGone || (result.state === "not up" && !this.#hasAnswered)) {
      // An endpoint that was not up after the instance's start counted nothing before it.
      if (!this.#hasAnswered) {
        this.#wasAway = true;
        this.#first = "increase";
      }
      return this.#pauseBeforeRetry();
    }
    this.#scrapes++;
    this.#receive(result);
    return this.#period_ms;
  }

  #pauseBeforeRetry(): number {
    this.#retry_ms = Math.min(2 * this.#retry_ms, this.#period_ms);
    return this.#retry_ms;
  }

  /** Whether the endpoint is one to read; says whose it is if it is not the run's. */
  async #mayRead(): Promise<boolean> {
    const { holder: ask, named = false } = this.#options;
    const holder = await ask?.();
    this.#sockets = holder?.is === "run" ? holder.sockets : undefined;
    if (holder?.is !== "other") return true;
    const whose = `its port belongs to ${holder.who}, which is not of this run`;
    if (named) {
      // One that was there before this run has counted before it.
      if (!this.#hasAnswered && !this.#wasAway) this.#first = "base";
      this.#report(`${this.#url} is read, but ${whose}`);
    } else if (!this.#isLeaving || !this.#hasAnswered) {
      this.#isRead = false;
      this.#report(`Cannot read ${this.#url}: ${whose}`);
    }
    return named;
  }

  #receive(result: Scrape): void {
    if (result.state !== "read") return this.#fail(`Cannot read ${this.#url}: ${result.why}`);
    const { families, fault } = result.exposition;
    this.#isRead = true;
    if (fault && !this.#isLeaving) {
      this.#fail(`Cannot read all of ${this.#url}: line ${fault.line}: ${fault.why}`);
    }
    if (families.length === 0) return;
    this.#hasAnswered = true;
    this.#unrecorded.push({ exposition: result.exposition, sockets: this.#sockets });
    if (this.#unrecorded.length > MAX_UNRECORDED) this.#unrecorded.shift();
  }

  /** Counts a failure, and reports it if it is new. */
  #fail(message: string): void {
    this.#failures++;
    this.#isRead = false;
    this.#report(message);
  }

  /** Reports what has not been reported yet. */
  #report(message: string): void {
    if (this.#reported.has(message) || this.#reported.size === MAX_FAILURES_REPORTED) return;
    this.#reported.add(message);
    this.#warnings.push(message);
  }
}
