/** Sends the spooled windows of one instance to the service, in order, each until it is answered. */

import { decode, emptyWindow, type Upload } from "@service/core";
import { uploadShape } from "@service/core/upload_schema";
import { gunzip } from "../base/gzip.ts";
import { errorText } from "../base/log.ts";
import type { Recorder } from "../sources/recorder.ts";
import type { Source } from "../sources/source.ts";
import type { Spool, Spooled } from "./spool.ts";

/** Where to send, and what to do meanwhile. */
export interface UploaderOptions {
  /** Base URL of the service. */
  base: string;
  key: string;
  spool: Spool;
  /** Hears, once for each kind, of what the user should know. */
  complain: (why: string) => void;
  /** Random number in `[0, 1)`. */
  random?: () => number;
}

/** Sends windows until it is stopped, and counts what went wrong on the way. */
export interface Uploader extends Source {
  /** Takes over one window; it is on disk when this resolves. */
  add(upload: Upload): Promise<void>;
  /** Resolves when nothing waits any more, or `patience_ms` have passed; sends nothing afterwards. */
  finish(patience_ms: number): Promise<void>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;
const ANSWER_TIMEOUT_MS = 30_000;
const NO_TAGS = {};

/** An uploader that starts to send at once. */
export function createUploader(options: UploaderOptions): Uploader {
  const { spool, complain, random = Math.random } = options;
  const stop = new AbortController();
  const said = new Set<string>();
  let failures = 0;
  let rejected = 0;
  let refused = false;
  let finishing = false;
  let idle = false;
  let wake = () => {};
  const sending = send().catch((error) => say("broken", `upload stopped: ${error}`));

  function say(kind: string, why: string): void {
    if (!said.has(kind)) complain(why);
    said.add(kind);
  }

  async function send(): Promise<void> {
    let attempt = 0;
    while (!refused && !stop.signal.aborted) {
      const taken = await spool.take();
      if (!taken) {
        if (finishing) return;
        idle = spool.size === 0;
        if (idle) await pause(Infinity);
        idle = false;
        continue;
      }
      const outcome = await post(options, taken.body, stop.signal);
      if (stop.signal.aborted) return;
      if (outcome.kind === "stored") {
        attempt = 0;
        await spool.acknowledge(taken.entry);
      } else if (outcome.kind === "rejected") {
        rejected++;
        await reject(taken.entry, taken.body, outcome);
      } else if (outcome.kind === "unauthorized") {
        refused = true;
        say("unauthorized", `upload stopped: the service refuses the key: ${outcome.answer}`);
      } else {
        failures++;
        say("failing", `upload is failing, windows are kept and tried again: ${outcome.answer}`);
        const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt++);
        await pause(outcome.retryAfter_ms ?? random() * longest);
      }
    }
  }

  /** The span stays in the chain, with a word for what is missing in it. */
  async function reject(entry: Spooled, body: Uint8Array<ArrayBuffer>, outcome: Answered) {
    say(
      "rejected",
      `the service rejected a window, kept in ${spool.directory}/rejected: ${outcome.answer}`,
    );
    await spool.reject(
      entry,
      outcome.answer,
      outcome.conflict ? undefined : await stead(body, outcome),
    );
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (stop.signal.aborted) return resolve();
      const timer = ms < Infinity ? setTimeout(resolve, ms) : undefined;
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return {
    async add(upload) {
      if (refused) return;
      await spool.add(upload);
      if (idle) wake();
    },
    async finish(patience_ms) {
      finishing = true;
      wake();
      const timer = setTimeout(() => {
        stop.abort();
        wake();
      }, patience_ms);
      await sending;
      clearTimeout(timer);
      await spool.removeIfEmpty();
    },
    sample(recorder: Recorder) {
      recorder.gauge("profiler_upload_pending_windows", NO_TAGS, spool.size);
      recorder.counter("profiler_upload_failures_total", NO_TAGS, failures);
      recorder.counter("profiler_upload_rejected_windows_total", NO_TAGS, rejected);
      failures = 0;
      rejected = 0;
    },
  };
}

interface Answered {
  kind: "stored" | "rejected" | "unauthorized" | "failed";
  /** What the service said, or why it said nothing. */
  answer: string;
  /** Whether the service has another window for this span. */
  conflict?: boolean;
  retryAfter_ms?: number;
}

async function post(
  { base, key }: UploaderOptions,
  body: Uint8Array<ArrayBuffer>,
  stop: AbortSignal,
): Promise<Answered> {
  const url = `${base.replace(/\/+$/, "")}/api/v1/ingest`;
  const attempt = new AbortController();
  const abort = () => attempt.abort(new Error("no answer in time"));
  const timer = setTimeout(abort, ANSWER_TIMEOUT_MS);
  stop.addEventListener("abort", abort);
  try {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { "x-api-key": key, "content-type": "application/json", "content-encoding": "gzip" },
      redirect: "manual",
      signal: attempt.signal,
    });
    const answer = `${response.status} ${(await response.text()).slice(0, 4_096)}`;
    const { status } = response;
    if (response.ok) return { kind: "stored", answer };
    if (status === 401 || status === 403) return { kind: "unauthorized", answer };
    if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
      return { kind: "rejected", answer, conflict: status === 409 };
    }
    return { kind: "failed", answer, retryAfter_ms: retryAfter(response.headers) };
  } catch (error) {
    return { kind: "failed", answer: errorText(error) };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", abort);
  }
}

/** The pause that the service asks for: seconds or an HTTP date. */
function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
}

/** The rejected window without its measurements, saying so; `undefined` where even that was rejected. */
async function stead(
  body: Uint8Array<ArrayBuffer>,
  { answer }: Answered,
): Promise<Upload | undefined> {
  try {
    const upload = uploadShape.check(decode(await gunzip(body)));
    const { from_ns, to_ns, series, resources } = upload.window;
    if (series.size === 0 && resources.size === 0) return undefined;
    const seconds = Number(to_ns - from_ns) / 1e9;
    const window = emptyWindow(from_ns);
    window.to_ns = to_ns;
    window.errors.push({
      level: "error",
      message: `Nothing measured in the ${seconds} s up to here was accepted: totals lack it`,
      exception: answer,
      log_ns: to_ns,
    });
    return { ...upload, window };
  } catch {
    return undefined;
  }
}
