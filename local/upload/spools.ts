/** Upload of one run: its own spool, and what killed runs left on this machine for the same service. */

import { writeWhole } from "../base/files.ts";
import { Spool } from "./spool.ts";
import { createUploader, type Uploader } from "./sender.ts";

/** Where one run uploads to, and from where on disk. */
export interface UploadOptions {
  /** Base URL of the service. */
  base: string;
  key: string;
  /** Directory of all spools: `$XDG_STATE_HOME/service/spool`. */
  spools: string;
  instance_id: string;
  complain: (why: string) => void;
}

/** Spools that nobody sent for so long hold nothing that the service would still keep. */
const ABANDONED_MS = 30 * 24 * 3_600_000;

/** The uploader of this run; it also sends, beside it, the windows that killed runs left. */
export async function startUpload(options: UploadOptions): Promise<Uploader> {
  const { spools, instance_id } = options;
  const destination = await fingerprint(options);
  const directory = `${spools}/${instance_id}`;
  const lock = await claim(directory, destination);
  const spool = await Spool.open(directory, options.complain);
  const own = unlockAfter(createUploader({ ...options, spool }), lock);
  const adopted = await adopt(options, destination);
  return {
    ...own,
    async finish(patience_ms) {
      await Promise.all([own.finish(patience_ms), ...adopted.map((other) => other.finish(0))]);
    },
  };
}

/** What tells two destinations apart without telling the key. */
async function fingerprint({ base, key }: UploadOptions): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${base}\n${key}`));
  return new Uint8Array(digest).toHex();
}

/** Locks a new spool for as long as this process lives; without a disk there is nothing to lock. */
async function claim(directory: string, destination: string): Promise<Deno.FsFile | undefined> {
  try {
    await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
    const file = await Deno.open(`${directory}/lock`, { create: true, write: true, mode: 0o600 });
    await file.lock(true);
    // Only now: a spool without a destination is nobody's to adopt.
    await writeWhole(`${directory}/destination`, destination);
    return file;
  } catch {
    return undefined;
  }
}

/** Uploaders of the spools that no living run holds and that go to the same destination. */
async function adopt(options: UploadOptions, destination: string): Promise<Uploader[]> {
  const adopted: Uploader[] = [];
  try {
    for await (const { name } of Deno.readDir(options.spools)) {
      if (name === options.instance_id) continue;
      const uploader = await adoptOne(options, `${options.spools}/${name}`, destination)
        .catch(() => undefined);
      if (uploader) adopted.push(uploader);
    }
  } catch {
    // No spools to read: nothing was left.
  }
  return adopted;
}

async function adoptOne(
  options: UploadOptions,
  directory: string,
  destination: string,
): Promise<Uploader | undefined> {
  const lock = await Deno.open(`${directory}/lock`, { create: true, write: true, mode: 0o600 });
  if (!await lock.tryLock(true)) {
    lock.close();
    return undefined;
  }
  if (await Deno.readTextFile(`${directory}/destination`).catch(() => "") !== destination) {
    const { mtime } = await Deno.stat(directory);
    if (mtime && Date.now() - mtime.getTime() > ABANDONED_MS) {
      await Deno.remove(directory, { recursive: true });
    }
    lock.close();
    return undefined;
  }
  const spool = await Spool.open(directory, options.complain);
  return unlockAfter(createUploader({ ...options, spool }), lock);
}

function unlockAfter(uploader: Uploader, lock: Deno.FsFile | undefined): Uploader {
  return {
    ...uploader,
    async finish(patience_ms) {
      await uploader.finish(patience_ms);
      lock?.close();
    },
  };
}
