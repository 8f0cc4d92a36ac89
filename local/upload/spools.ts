/** Upload of one run: its own spool, and the spools of crashed runs with the same destination. */

import type { InstanceHead, PackedWindow } from "@service/core/packed";
import { errorText } from "../base/log.ts";
import { waitFor } from "../base/patience.ts";
import { WaitingWindows } from "../runs/waiting.ts";
import type { Recorder } from "../sources/recorder.ts";
import type { Source } from "../sources/source.ts";
import { adopt } from "./adoption.ts";
import { Destination } from "./destination.ts";
import type { ReadKey } from "./key.ts";
import { lockSpool } from "./lock.ts";
import { Sender } from "./sender.ts";
import { Spool } from "./spool.ts";

/** The destination of a run's upload, and its spool. */
export interface UploadOptions {
  /** Base URL of the service. */
  base: string;
  key: ReadKey;
  /** Directory of all spools: `spool` in the state directory. */
  spools: string;
  instance: InstanceHead;
  /** Tells the user. */
  warn: (message: string) => void;
  /** Pause before a key that was refused is tried again, a minute unless given. */
  refusedPause_ms?: number;
}

/** How long the end waits for a disk that does not answer. */
const DISK_PATIENCE_MS = 500;

/** The upload of a run; it measures itself. */
export class Uploader implements Source {
  readonly #options: UploadOptions;
  /** Windows that are in no spool yet: the disk may be slow. */
  readonly #waiting: WaitingWindows;
  readonly #opening: Promise<void>;
  #own: Sender | undefined;
  /** Senders of what crashed runs left. */
  #adopting: Promise<Sender[]> = Promise.resolve([]);
  #moving: Promise<void> | undefined;
  /** Windows that are on their way into the spool. */
  #moved = 0;

  /** An upload that starts at once, and beside it that of windows that crashed runs left. */
  constructor(options: UploadOptions) {
    this.#options = options;
    this.#waiting = new WaitingWindows(options.instance);
    this.#opening = this.#open();
  }

  /** Takes over the newest window, and does not wait for the disk. Calls must not overlap. */
  async add(window: PackedWindow): Promise<void> {
    await this.#waiting.add(window);
    this.#moving ??= this.#move().finally(() => this.#moving = undefined);
  }

  /** Resolves when no window waits, or soon after `patience_ms`; sends nothing afterwards. */
  async finish(patience_ms: number): Promise<void> {
    await waitFor(this.#finish(patience_ms), patience_ms + DISK_PATIENCE_MS);
  }

  /** Records what the sender of the run does, and the windows that wait. */
  sample(recorder: Recorder): void {
    this.#own?.sample(recorder);
    const pending = this.#waiting.count + this.#moved + (this.#own?.size ?? 0);
    recorder.gauge("profiler_upload_pending_windows", {}, pending);
  }

  async #open(): Promise<void> {
    const { base, key, spools, instance, warn, refusedPause_ms } = this.#options;
    try {
      const directory = `${spools}/${instance.instance_id}`;
      const lock = await lockNew(directory);
      const destination = Destination.of(directory, base);
      const spool = await Spool.open(directory, { warn });
      const accepted = () => this.#adopt(destination);
      const options = { spool, destination, key, lock, warn, accepted, refusedPause_ms };
      this.#own = new Sender(options);
      // A key that cannot be read is told of by the sender.
      this.#adopting = key().then((key) => destination.mayUse(key)).then(() => [], () => []);
      this.#adopt(destination);
    } catch (error) {
      warn(`cannot upload: ${errorText(error)}`);
    }
  }

  /** Adopts what crashed runs left: with the same key, and in the same project once that is known. */
  #adopt(destination: Destination): void {
    const { spools, key, warn } = this.#options;
    this.#adopting = this.#adopting.then(async (adopted) => [
      ...adopted,
      ...await adopt({ spools, destination, key, warn }),
    ]);
  }

  async #move(): Promise<void> {
    await this.#opening;
    for (let next; this.#own && (next = this.#waiting.take());) {
      this.#moved = next.count;
      await this.#own.add(next);
      this.#moved = 0;
    }
  }

  async #finish(patience_ms: number): Promise<void> {
    await this.#opening;
    await this.#moving;
    await this.#own?.finish(patience_ms);
    const adopted = await this.#adopting;
    await Promise.all(adopted.map((sender) => sender.finish(0)));
  }
}

/** Locks a new spool for as long as this process lives; without a disk there is nothing to lock. */
async function lockNew(directory: string): Promise<Deno.FsFile | undefined> {
  try {
    await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
    return await lockSpool(directory);
  } catch {
    return undefined;
  }
}
