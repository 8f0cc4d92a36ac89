/** Upload of one run: its own spool, and the spools of crashed runs with the same destination. */

import type { Upload } from "@service/core";
import { writeWhole } from "../base/files.ts";
import type { Source } from "../sources/source.ts";
import type { Service } from "./post.ts";
import { Sender } from "./sender.ts";
import { Spool } from "./spool.ts";

/** The destination of a run's upload, and its spool. */
export interface UploadOptions extends Service {
  /** Directory of all spools: `$XDG_STATE_HOME/service/spool`. */
  spools: string;
  instance_id: string;
  /** Tells the user. */
  warn: (message: string) => void;
}

/** A running upload, which measures itself. */
export interface Uploader extends Source {
  /** Takes over one window; it is on disk when this resolves. */
  add(upload: Upload): Promise<void>;
  /** Resolves when no window waits, or after `patience_ms`; sends nothing afterwards. */
  finish(patience_ms: number): Promise<void>;
}

/** The service keeps no window for longer than this. */
const ABANDONED_MS = 30 * 24 * 3_600_000;

/** Starts the upload of a run, and beside it that of windows that crashed runs left. */
export async function startUpload(options: UploadOptions): Promise<Uploader> {
  const { spools, instance_id } = options;
  const destination = await fingerprint(options);
  const directory = `${spools}/${instance_id}`;
  const lock = await lockNew(directory, destination);
  const own = await startSender(options, directory, lock);
  const adopted = await adopt(options, destination);
  return {
    sample: (recorder) => own.sample(recorder),
    add: (upload) => own.add(upload),
    async finish(patience_ms) {
      await Promise.all([own.finish(patience_ms), ...adopted.map((other) => other.finish(0))]);
    },
  };
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
      if (name === options.instance_id) continue;
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
