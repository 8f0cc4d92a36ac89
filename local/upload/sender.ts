/** The sender: uploads the spooled windows of one instance, in order, each until it is answered. */

import type { PackedWindow } from "@service/core/packed";
import { waitFor } from "../base/patience.ts";
import type { Recorder } from "../sources/recorder.ts";
import type { Source } from "../sources/source.ts";
import { lostWindow, placeholderOf } from "./placeholder.ts";
import { type Outcome, postWindow, type Service } from "./post.ts";
import type { NextWindow, Spool } from "./spool.ts";

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

/** How long the end waits for a disk that does not answer. */
const DISK_PATIENCE_MS = 300;

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
  /** Hash of the newest block that the service knows. */
  #knownBlock: string | undefined;
  /** Start of the last gap that was filled. */
  #filled_ns: bigint | undefined;
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
  async add(window: PackedWindow): Promise<void> {
    if (this.#unauthorized) return;
    await this.#spool.add(window);
    if (this.#idle) this.#wake();
  }

  /** Windows that wait. */
  get size(): number {
    return this.#spool.size;
  }

  /** Resolves when no window waits, or soon after `patience_ms`; sends nothing afterwards. */
  async finish(patience_ms: number): Promise<void> {
    this.#finishing = true;
    this.#wake();
    const timer = setTimeout(() => {
      this.#stop.abort();
      this.#wake();
    }, patience_ms);
    await waitFor(this.#end(), patience_ms + DISK_PATIENCE_MS);
    clearTimeout(timer);
  }

  /** Records the failures, rejected and damaged windows since the last sample. */
  sample(recorder: Recorder): void {
    recorder.counter("profiler_upload_failures_total", NO_TAGS, this.#failures);
    recorder.counter("profiler_upload_rejected_windows_total", NO_TAGS, this.#rejected);
    recorder.counter("profiler_upload_damaged_windows_total", NO_TAGS, this.#spool.takeDamaged());
    this.#failures = 0;
    this.#rejected = 0;
  }

  async #end(): Promise<void> {
    await this.#sending;
    await this.#spool.removeIfEmpty();
    this.#options.lock?.[Symbol.dispose]();
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
      const outcome = await this.#post(next.window);
      if (this.#stop.signal.aborted) return;
      if (await this.#settle(next, outcome)) {
        if (outcome.kind === "stored") attempt = 0;
        continue;
      }
      this.#failures++;
      const longest_ms = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt++);
      await this.#pause(outcome.retryAfter_ms ?? random() * longest_ms);
    }
  }

  /** Sends a window, with its block if the service does not know that, or does not know it any more. */
  async #post(window: PackedWindow): Promise<Outcome> {
    const options = { service: this.#options, stop: this.#stop.signal };
    const { hash } = window.block;
    if (this.#knownBlock === hash) {
      const outcome = await postWindow(window, { ...options, withBlock: false });
      if (outcome.kind !== "blockless") return outcome;
      this.#knownBlock = undefined;
    }
    return await postWindow(window, { ...options, withBlock: true });
  }

  /** Ends the wait of a window that the service has answered. False: it is to be sent again. */
  async #settle(next: NextWindow, { kind, text, ...outcome }: Outcome): Promise<boolean> {
    switch (kind) {
      case "stored":
        this.#knownBlock = outcome.block ?? this.#knownBlock;
        if (outcome.ignored) {
          const names = outcome.ignored.join(", ");
          this.#warn("ignored", `the service is older than this profiler, it ignores ${names}`);
        }
        await this.#spool.acknowledge(next.entry);
        await this.#fillGap(next, outcome);
        return true;
      case "unauthorized":
        this.#unauthorized = true;
        this.#warn(kind, `upload stopped: the service refuses the key: ${text}`);
        return true;
      case "rejected": {
        this.#rejected++;
        this.#warn(
          kind,
          `the service rejected a window, kept in ${this.#spool.directory}/rejected: ${text}`,
        );
        const placeholder = outcome.conflict ? undefined : await placeholderOf(next.window, text);
        await this.#spool.reject(next, { answer: text, placeholder });
        return true;
      }
      case "unsupported":
        this.#warn(
          kind,
          `the service is older than this profiler, windows are kept and tried again: ${text}`,
        );
        return false;
      case "blockless":
      case "failed":
        this.#warn("failed", `upload is failing, windows are kept and tried again: ${text}`);
        return false;
    }
  }

  /** Fills the span before a stored window that the service lacks: all that is older was sent. */
  async #fillGap(
    { entry: { from_ns }, window }: NextWindow,
    { watermark_ns }: Pick<Outcome, "watermark_ns">,
  ): Promise<void> {
    if (watermark_ns === undefined || watermark_ns >= from_ns) return;
    if (watermark_ns === this.#filled_ns) return;
    this.#filled_ns = watermark_ns;
    const reason = "The service does not have it, and the profiler no longer has it";
    this.#warn("lost", `windows are lost, the service is told so: ${reason}`);
    const { instance } = window.block;
    const loss = { instance, fate: "reached the service", reason };
    await this.#spool.fill(await lostWindow({ from_ns: watermark_ns, to_ns: from_ns }, loss));
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
