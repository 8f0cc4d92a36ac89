/** The sender: uploads the spooled windows of one instance, in order, each until it is answered. */

import type { PackedWindow } from "@service/core/packed";
import { errorText } from "../base/log.ts";
import { waitFor } from "../base/patience.ts";
import type { Recorder } from "../sources/recorder.ts";
import type { Source } from "../sources/source.ts";
import type { Destination } from "./destination.ts";
import type { ReadKey } from "./key.ts";
import { lostWindow, placeholderOf } from "./placeholder.ts";
import { type Outcome, postWindow } from "./post.ts";
import { Refusal } from "./refusal.ts";
import type { NextWindow, Spool } from "./spool.ts";

/** Where to send, and from which spool. */
export interface SenderOptions {
  spool: Spool;
  destination: Destination;
  /** Read again before each window. */
  key: ReadKey;
  /** Whether another run has left the spool: then it ends where nothing waits, or the key is refused. */
  left?: boolean;
  /** Keeps other processes off the spool until the sender has finished. */
  lock?: Disposable;
  /** Tells the user; called once for each kind of message. */
  warn: (message: string) => void;
  /** Called when the service accepts a key for the first time, or again after a refusal. */
  accepted?: () => void;
  /** Random number in `[0, 1)`. */
  random?: () => number;
  /** Pause before a key that was refused is tried again, a minute unless given. */
  refusedPause_ms?: number;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** How long the end waits for a disk that does not answer. */
const DISK_PATIENCE_MS = 300;

const NO_TAGS = {};

const TOO_OLD =
  "the service does not name the project of a key, so that only the key which it has " +
  "accepted may send the rest; it must be given again, or the service be updated";

/** An attempt to send a window. */
interface Attempt extends Outcome {
  /** The key; absent: there is none. */
  key?: string;
}

/** Sends windows from its creation until it is finished, and counts failures and rejected windows. */
export class Sender implements Source {
  readonly #options: SenderOptions;
  readonly #spool: Spool;
  readonly #stop = new AbortController();
  readonly #warned = new Set<string>();
  readonly #sending: Promise<void>;
  #closing: Promise<void> | undefined;
  #failures = 0;
  #rejected = 0;
  readonly #refusal: Refusal;
  #finishing = false;
  /** Hash of the newest block that the service knows. */
  #knownBlock: string | undefined;
  /** Start of the last gap that was filled. */
  #filled_ns: bigint | undefined;
  /** Whether a new window ends the pause under way. */
  #idle = false;
  /** Ends the pause under way. */
  #wake = () => {};

  /** A sender that starts to send at once. */
  constructor(options: SenderOptions) {
    this.#options = options;
    this.#spool = options.spool;
    this.#refusal = new Refusal(options.warn);
    this.#sending = this.#send().catch((error) => this.#warn("broken", `upload stopped: ${error}`));
    if (options.left) this.#closing = this.#close();
  }

  /** Takes over one window; it is on disk when this resolves. */
  async add(window: PackedWindow): Promise<void> {
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
    this.#closing ??= this.#close();
    await waitFor(this.#closing, patience_ms + DISK_PATIENCE_MS);
    clearTimeout(timer);
  }

  /** Records the failures and lost windows since the last sample, and for how long the key is refused. */
  sample(recorder: Recorder): void {
    const { damaged, dropped } = this.#spool.takeLost();
    recorder.counter("profiler_upload_failures_total", NO_TAGS, this.#failures);
    recorder.counter("profiler_upload_rejected_windows_total", NO_TAGS, this.#rejected);
    recorder.counter("profiler_upload_damaged_windows_total", NO_TAGS, damaged);
    recorder.counter("profiler_upload_dropped_windows_total", NO_TAGS, dropped);
    recorder.gauge("profiler_upload_refused_seconds", NO_TAGS, this.#refusal.seconds);
    this.#failures = 0;
    this.#rejected = 0;
  }

  async #close(): Promise<void> {
    await this.#sending;
    await this.#spool.removeIfEmpty();
    this.#options.lock?.[Symbol.dispose]();
  }

  async #send(): Promise<void> {
    const { random = Math.random, left } = this.#options;
    let attempt = 0;
    let ended = false;
    while (!this.#stop.signal.aborted) {
      const next = await this.#spool.next();
      if (!next) {
        if (left && !ended) {
          ended = true;
          await this.#spool.endInstance();
        } else if (left || this.#finishing) return;
        else await this.#waitForWindow();
        continue;
      }
      const outcome = await this.#attempt(next.window);
      if (this.#stop.signal.aborted) return;
      if (outcome.kind === "refused") {
        if (!await this.#waitForKey(outcome)) return;
        continue;
      }
      if (await this.#settle(next, outcome)) {
        if (outcome.kind === "stored") attempt = 0;
        continue;
      }
      this.#failures++;
      const longest_ms = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt++);
      await this.#pause(outcome.retryAfter_ms ?? random() * longest_ms);
    }
  }

  /** Sends a window with the key as it is now. */
  async #attempt(window: PackedWindow): Promise<Attempt> {
    const { key: readKey, destination, accepted } = this.#options;
    let key;
    try {
      key = await readKey();
    } catch (error) {
      return { kind: "refused", text: errorText(error) };
    }
    if (!await destination.mayUse(key)) return { kind: "refused", text: TOO_OLD, key };
    const outcome = await this.#post(window, key);
    if (outcome.kind === "refused") {
      return { ...outcome, text: `the service refuses the key: ${outcome.text}`, key };
    }
    if (outcome.kind === "stored") {
      const isNews = await destination.accepted(key, outcome.project);
      if (this.#refusal.end() || isNews) accepted?.();
    }
    return { ...outcome, key };
  }

  /** Sends a window, with its block if the service does not know that, or does not know it any more. */
  async #post(window: PackedWindow, key: string): Promise<Outcome> {
    const { base, project } = this.#options.destination;
    const options = { base, key, project, stop: this.#stop.signal };
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
        await this.#spool.acknowledge(next);
        await this.#fillGap(next, outcome);
        return true;
      case "rejected": {
        this.#rejected++;
        this.#warn(
          kind,
          `the service rejected a window, kept in ${this.#spool.directory}/rejected: ${text}`,
        );
        const fate = { fate: "was accepted", reason: text };
        const placeholder = outcome.conflict ? undefined : await placeholderOf(next.window, fate);
        await this.#spool.reject(next, { answer: text, placeholder });
        return true;
      }
      case "unsupported":
        this.#warn(
          kind,
          "the service is older than this profiler, or SERVICE_API_BASE is not its URL; windows are " +
            `kept and tried again: ${text}`,
        );
        return false;
      case "refused":
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

  /** Waits until a refused key is another one, or may be tried again; false: it is not tried again. */
  async #waitForKey({ key, text }: Attempt): Promise<boolean> {
    const { key: readKey, left, refusedPause_ms = LONGEST_PAUSE_MS } = this.#options;
    if (left) return false;
    this.#refusal.add(text);
    const until_ms = performance.now() + refusedPause_ms;
    while (!this.#stop.signal.aborted) {
      if (await readKey().catch(() => undefined) !== key) return true;
      const rest_ms = until_ms - performance.now();
      if (this.#finishing || rest_ms <= 0) return !this.#finishing;
      this.#idle = true;
      await this.#pause(rest_ms);
      this.#idle = false;
    }
    return false;
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
