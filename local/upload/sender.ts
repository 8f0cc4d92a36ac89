/** The sender: uploads the spooled windows of one instance, in order, each until it is answered. */

import { decode, emptyWindow, type Upload } from "@service/core";
import { secondsFromNs } from "@service/core/time";
import { uploadShape } from "@service/core/upload_schema";
import { gunzip } from "../base/gzip.ts";
import type { Recorder } from "../sources/recorder.ts";
import type { Source } from "../sources/source.ts";
import { type Outcome, postWindow, type Service } from "./post.ts";
import type { Spool, Spooled } from "./spool.ts";

/** Where to send, and from which spool. */
export interface SenderOptions extends Service {
  spool: Spool;
  /** Keeps other processes off the spool until the sender has finished. */
  lock?: Disposable;
  /** Tells the user; called once for each kind of message. */
  warn: (message: string) => void;
  /** Random number in `[0, 1)`. */
  random?: () => number;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const NO_TAGS = {};

/** Sends windows from its creation until it is finished, and counts failures and rejected windows. */
export class Sender implements Source {
  readonly #options: SenderOptions;
  readonly #spool: Spool;
  readonly #stop = new AbortController();
  readonly #warned = new Set<string>();
  readonly #sending: Promise<void>;
  #failures = 0;
  #rejected = 0;
  /** Whether the service has refused the key. */
  #unauthorized = false;
  #finishing = false;
  /** Whether it waits for a window. */
  #idle = false;
  /** Ends the pause under way. */
  #wake = () => {};

  /** A sender that starts to send at once. */
  constructor(options: SenderOptions) {
    this.#options = options;
    this.#spool = options.spool;
    this.#sending = this.#send().catch((error) => this.#warn("broken", `upload stopped: ${error}`));
  }

  /** Takes over one window; it is on disk when this resolves. */
  async add(upload: Upload): Promise<void> {
    if (this.#unauthorized) return;
    await this.#spool.add(upload);
    if (this.#idle) this.#wake();
  }

  /** Resolves when no window waits, or after `patience_ms`; sends nothing afterwards. */
  async finish(patience_ms: number): Promise<void> {
    this.#finishing = true;
    this.#wake();
    const timer = setTimeout(() => {
      this.#stop.abort();
      this.#wake();
    }, patience_ms);
    await this.#sending;
    clearTimeout(timer);
    await this.#spool.removeIfEmpty();
    this.#options.lock?.[Symbol.dispose]();
  }

  /** Records the windows that wait, and the failures and rejected windows since the last sample. */
  sample(recorder: Recorder): void {
    recorder.gauge("profiler_upload_pending_windows", NO_TAGS, this.#spool.size);
    recorder.counter("profiler_upload_failures_total", NO_TAGS, this.#failures);
    recorder.counter("profiler_upload_rejected_windows_total", NO_TAGS, this.#rejected);
    this.#failures = 0;
    this.#rejected = 0;
  }

  async #send(): Promise<void> {
    const { random = Math.random } = this.#options;
    let attempt = 0;
    while (!this.#unauthorized && !this.#stop.signal.aborted) {
      const next = await this.#spool.next();
      if (!next) {
        if (this.#finishing) return;
        await this.#waitForWindow();
        continue;
      }
      const outcome = await postWindow(next.body, {
        service: this.#options,
        stop: this.#stop.signal,
      });
      if (this.#stop.signal.aborted) return;
      if (outcome.kind === "failed") {
        this.#failures++;
        this.#warn(
          "failing",
          `upload is failing, windows are kept and tried again: ${outcome.text}`,
        );
        const longest_ms = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt++);
        await this.#pause(outcome.retryAfter_ms ?? random() * longest_ms);
      } else {
        if (outcome.kind === "stored") attempt = 0;
        await this.#settle(next.entry, next.body, outcome);
      }
    }
  }

  /** Ends the wait of a window that the service has answered, and will not be asked again. */
  async #settle(entry: Spooled, body: Uint8Array<ArrayBuffer>, outcome: Outcome): Promise<void> {
    const { kind, text, conflict } = outcome;
    if (kind === "stored") return await this.#spool.acknowledge(entry);
    if (kind === "unauthorized") {
      this.#unauthorized = true;
      return this.#warn(kind, `upload stopped: the service refuses the key: ${text}`);
    }
    this.#rejected++;
    this.#warn(
      kind,
      `the service rejected a window, kept in ${this.#spool.directory}/rejected: ${text}`,
    );
    await this.#spool.reject(entry, text, conflict ? undefined : await placeholder(body, text));
  }

  #warn(kind: string, message: string): void {
    if (!this.#warned.has(kind)) this.#options.warn(message);
    this.#warned.add(kind);
  }

  async #waitForWindow(): Promise<void> {
    // A window may have come since the last one was asked for.
    this.#idle = this.#spool.size === 0;
    if (this.#idle) await this.#pause(Infinity);
    this.#idle = false;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stop.signal.aborted) return resolve();
      const timer = ms < Infinity ? setTimeout(resolve, ms) : undefined;
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * A window for the span of a rejected one, with an error in place of its measurements; `undefined` if
 * the rejected one is such a window itself, or cannot be read.
 */
async function placeholder(
  body: Uint8Array<ArrayBuffer>,
  answer: string,
): Promise<Upload | undefined> {
  try {
    const upload = uploadShape.check(decode(await gunzip(body)));
    const { from_ns, to_ns, series, resources } = upload.window;
    if (series.size === 0 && resources.size === 0) return undefined;
    const seconds = secondsFromNs(to_ns - from_ns);
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
