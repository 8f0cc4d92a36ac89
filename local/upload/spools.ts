/** Upload of one run: its own spool, and the spools of crashed runs with the same destination. */

import type { InstanceHead, PackedWindow } from "@service/core/packed";
import { writeWhole } from "../base/files.ts";
import { errorText } from "../base/log.ts";
import { waitFor } from "../base/patience.ts";
import { WaitingWindows } from "../runs/waiting.ts";
import type { Recorder } from "../sources/recorder.ts";
import type { Source } from "../sources/source.ts";
import type { Service } from "./post.ts";
import { Sender } from "./sender.ts";
import { Spool } from "./spool.ts";

/** The destination of a run's upload, and its spool. */
export interface UploadOptions extends Service {
  /** Directory of all spools: `spool` in the state directory. */
  spools: string;
  instance: InstanceHead;
  /** Tells the user. */
  warn: (message: string) => void;
}

/** The service keeps no window for longer than this. */
const ABANDONED_MS = 30 * 24 * 3_600_000;

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
    const pending = this.#waiting.count + (this.#own?.size ?? 0);
    recorder.gauge("profiler_upload_pending_windows", {}, pending);
  }

  async #open(): Promise<void> {
    const { spools, instance, warn } = this.#options;
    try {
      const destination = await fingerprint(this.#options);
      const directory = `${spools}/${instance.instance_id}`;
      const lock = await lockNew(directory, destination);
      this.#own = await startSender(this.#options, directory, lock);
      this.#adopting = adopt(this.#options, destination);
    } catch (error) {
      warn(`cannot upload: ${errorText(error)}`);
    }
  }

  async #move(): Promise<void> {
    await this.#opening;
    for (let next; this.#own && (next = this.#waiting.take());) await this.#own.add(next);
  }

  async #finish(patience_ms: number): Promise<void> {
    await this.#opening;
    await this.#moving;
    const adopted = this.#adopting.then((all) => Promise.all(all.map((one) => one.finish(0))));
    await Promise.all([this.#own?.finish(patience_ms), adopted]);
  }
}

async function startSender(
  options: UploadOptions,
  directory: string,
  lock?: Disposable,
): Promise<Sender> {
  const { base, key, warn } = options;
  return new Sender({ base, key, warn, lock, spool: await Spool.open(directory, { warn }) });
}

/** Tells two destinations apart without telling the key. */
async function fingerprint({ base, key }: UploadOptions): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${base}\n${key}`));
  return new Uint8Array(digest).toHex();
}

/** Locks a new spool for as long as this process lives; without a disk there is nothing to lock. */
async function lockNew(directory: string, destination: string): Promise<Deno.FsFile | undefined> {
  try {
    await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
    const lock = await openLock(directory);
    await lock.lock(true);
    // After the lock, since other runs adopt only spools with a destination.
    await writeWhole(`${directory}/destination`, destination);
    return lock;
  } catch {
    return undefined;
  }
}

/** Senders of the spools that no living run holds and that go to the same destination. */
async function adopt(options: UploadOptions, destination: string): Promise<Sender[]> {
  const adopted: Sender[] = [];
  try {
    for await (const { name } of Deno.readDir(options.spools)) {
      if (name === options.instance.instance_id) continue;
      const directory = `${options.spools}/${name}`;
      const sender = await adoptOne(options, directory, destination).catch(() => undefined);
      if (sender) adopted.push(sender);
    }
  } catch {
    // No directory of spools: no run has left any.
  }
  return adopted;
}

async function adoptOne(
  options: UploadOptions,
  directory: string,
  destination: string,
): Promise<Sender | undefined> {
  const lock = await openLock(directory);
  if (await lock.tryLock(true)) {
    if (await Deno.readTextFile(`${directory}/destination`).catch(() => "") === destination) {
      return await startSender(options, directory, lock);
    }
    const { mtime } = await Deno.stat(directory);
    if (mtime && Date.now() - mtime.getTime() > ABANDONED_MS) {
      await Deno.remove(directory, { recursive: true });
    }
  }
  lock.close();
  return undefined;
}

function openLock(directory: string): Promise<Deno.FsFile> {
  return Deno.open(`${directory}/lock`, { create: true, write: true, mode: 0o600 });
}
