/**
 * The spool: windows that wait for upload, one file each, `<from_ns>-<to_ns>.new.json.gz`, and from the
 * first attempt to send it `.sent.json.gz`. A window that was ever sent may be stored already, so only
 * those never sent are merged when the spool grows over its limit: it loses time resolution, no counts.
 */

import { decode, encodeUpload, mergeAll, type Upload } from "@service/core";
import { MAX_INFLATED_BYTES, MAX_SERIES, MAX_UPLOAD_BYTES } from "@service/core/limits";
import { uploadShape } from "@service/core/upload_schema";
import { removeOldest, writeWhole } from "../base/files.ts";
import { gunzip, gzip } from "../base/gzip.ts";
import { errorText } from "../base/log.ts";

/** One window in the spool. */
export interface Spooled {
  readonly from_ns: bigint;
  readonly to_ns: bigint;
  /** Compressed size in bytes. */
  readonly bytes: number;
  sent: boolean;
  /** The compressed body, only where the disk did not take it. */
  readonly held?: Uint8Array<ArrayBuffer>;
}

/** Compressed bytes that one instance's spool holds before it merges windows. */
export const SPOOL_BYTES: number = 64 * 2 ** 20;

/** The limit of a spool, and how it tells of a disk that fails. */
export interface SpoolOptions {
  /** Tells the user; called once. */
  warn: (message: string) => void;
  /** Compressed bytes, {@linkcode SPOOL_BYTES} unless given. */
  limit?: number;
}

const FILE = /^(\d+)-(\d+)\.(new|sent)\.json\.gz$/;

/** The spool of one instance: oldest first, on disk, or in memory where the disk refuses. */
export class Spool {
  readonly directory: string;
  readonly #limit: number;
  readonly #warn: (message: string) => void;
  #entries: Spooled[] = [];
  #diskFailed = false;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(directory: string, { limit = SPOOL_BYTES, warn }: SpoolOptions) {
    this.directory = directory;
    this.#limit = limit;
    this.#warn = warn;
  }

  /** The spool in `directory`, with the windows that an earlier run left there. */
  static async open(directory: string, options: SpoolOptions): Promise<Spool> {
    const spool = new Spool(directory, options);
    try {
      await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
      spool.#entries = await leftovers(directory);
    } catch (error) {
      spool.#fail(error);
    }
    return spool;
  }

  /** Windows that wait. */
  get size(): number {
    return this.#entries.length;
  }

  /** Keeps `upload` until it is acknowledged or rejected. */
  add(upload: Upload): Promise<void> {
    return this.#inTurn(async () => {
      this.#entries.push(await this.#store(upload));
      while (this.#entries.reduce((sum, { bytes }) => sum + bytes, 0) > this.#limit) {
        if (!await this.#mergeSmallest()) break;
      }
    });
  }

  /** The oldest window that waits, and its body; from now on it counts as sent. */
  next(): Promise<{ entry: Spooled; body: Uint8Array<ArrayBuffer> } | undefined> {
    return this.#inTurn(async () => {
      while (this.#entries.length > 0) {
        const entry = this.#entries[0]!;
        await this.#markSent(entry);
        try {
          return { entry, body: await this.#body(entry) };
        } catch (error) {
          this.#fail(error);
          await this.#forget(entry);
        }
      }
    });
  }

  /** Removes `entry`, which the service has stored. */
  acknowledge(entry: Spooled): Promise<void> {
    return this.#inTurn(() => this.#forget(entry));
  }

  /** Moves `entry` to `rejected/`, beside the service's answer, and stores a placeholder for its span. */
  reject(entry: Spooled, answer: string, placeholder?: Upload): Promise<void> {
    return this.#inTurn(async () => {
      const rejected = `${this.directory}/rejected`;
      const name = `${rejected}/${entry.from_ns}-${entry.to_ns}`;
      try {
        await Deno.mkdir(rejected, { recursive: true, mode: 0o700 });
        await writeWhole(`${name}.json.gz`, await this.#body(entry));
        await writeWhole(`${name}.answer.json`, answer);
        await removeOldest(rejected, { bytes: this.#limit });
      } catch (error) {
        this.#fail(error);
      }
      await this.#forget(entry);
      if (placeholder) this.#entries.unshift(await this.#store(placeholder));
    });
  }

  /** Removes the directory if nothing is left in it, neither waiting nor rejected. */
  async removeIfEmpty(): Promise<void> {
    if (this.size > 0) return;
    try {
      for await (const { name } of Deno.readDir(this.directory)) {
        if (name !== "lock" && name !== "destination" && !name.endsWith(".tmp")) return;
      }
      await Deno.remove(this.directory, { recursive: true });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** One change at a time: the loop adds while the sender reads. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#last.then(change);
    this.#last = done.catch(() => {});
    return done;
  }

  async #store(upload: Upload): Promise<Spooled> {
    return await this.#keep(upload, await gzip(encodeUpload(upload)));
  }

  async #keep(upload: Upload, body: Uint8Array<ArrayBuffer>): Promise<Spooled> {
    const { from_ns, to_ns } = upload.window;
    const entry: Spooled = { from_ns, to_ns, bytes: body.length, sent: false };
    const path = this.#path(entry);
    try {
      await writeWhole(path, body);
      return entry;
    } catch (error) {
      this.#fail(error);
      return { ...entry, held: body };
    }
  }

  /** Merges the two neighbours never sent that are smallest together; false if there are none. */
  async #mergeSmallest(): Promise<boolean> {
    const entries = this.#entries;
    let index = -1;
    let smallest = Infinity;
    for (let i = 0; i + 1 < entries.length; i++) {
      const [a, b] = [entries[i]!, entries[i + 1]!];
      if (a.sent || b.sent || a.to_ns !== b.from_ns || a.bytes + b.bytes >= smallest) continue;
      smallest = a.bytes + b.bytes;
      index = i;
    }
    if (index < 0) return false;
    const parts = entries.slice(index, index + 2);
    const merged = await this.#merged(parts).catch(() => undefined);
    if (merged) {
      entries.splice(index, 2, await this.#keep(merged.upload, merged.body));
      for (const part of parts) await this.#remove(part);
    } else {
      // They are sent as they are: if they cannot be read, the service rejects them.
      for (const part of parts) await this.#markSent(part);
    }
    return true;
  }

  /** Two windows as one; `undefined` where the service would not take it. */
  async #merged(parts: Spooled[]) {
    const [first, second] = await Promise.all(
      parts.map(async (part) => uploadShape.check(decode(await gunzip(await this.#body(part))))),
    );
    const upload = { ...second!, window: mergeAll([first!.window, second!.window]) };
    const text = encodeUpload(upload);
    const body = await gzip(text);
    const inflated = new TextEncoder().encode(text).length;
    const fits = upload.window.series.size <= MAX_SERIES && inflated <= MAX_INFLATED_BYTES &&
      body.length <= MAX_UPLOAD_BYTES;
    return fits ? { upload, body } : undefined;
  }

  async #body(entry: Spooled): Promise<Uint8Array<ArrayBuffer>> {
    return entry.held ?? await Deno.readFile(this.#path(entry));
  }

  async #markSent(entry: Spooled): Promise<void> {
    if (entry.sent) return;
    const before = this.#path(entry);
    entry.sent = true;
    if (entry.held) return;
    await Deno.rename(before, this.#path(entry)).catch((error) => this.#fail(error));
  }

  async #forget(entry: Spooled): Promise<void> {
    this.#entries = this.#entries.filter((other) => other !== entry);
    await this.#remove(entry);
  }

  async #remove(entry: Spooled): Promise<void> {
    if (entry.held) return;
    await Deno.remove(this.#path(entry)).catch((error) => this.#fail(error));
  }

  #path(entry: Spooled): string {
    return filePath(this.directory, entry);
  }

  /** Without the disk, windows are held in memory; warns once. */
  #fail(error: unknown): void {
    if (this.#diskFailed) return;
    this.#diskFailed = true;
    this.#warn(
      `cannot keep windows in ${this.directory}, holding them in memory: ${errorText(error)}`,
    );
  }
}

/** The windows in `directory`; the parts of a merged window are removed if they are still there. */
async function leftovers(directory: string): Promise<Spooled[]> {
  const entries: Spooled[] = [];
  for await (const { name } of Deno.readDir(directory)) {
    const match = FILE.exec(name);
    if (!match) continue;
    const [from_ns, to_ns] = [BigInt(match[1]!), BigInt(match[2]!)];
    const { size: bytes } = await Deno.stat(`${directory}/${name}`);
    entries.push({ from_ns, to_ns, bytes, sent: match[3] === "sent" });
  }
  entries.sort((a, b) =>
    a.from_ns === b.from_ns ? Number(b.to_ns - a.to_ns) : a.from_ns < b.from_ns ? -1 : 1
  );
  let covered = -1n;
  const kept: Spooled[] = [];
  for (const entry of entries) {
    if (entry.to_ns > covered) kept.push(entry);
    else await Deno.remove(filePath(directory, entry));
    covered = entry.to_ns > covered ? entry.to_ns : covered;
  }
  return kept;
}

function filePath(directory: string, { from_ns, to_ns, sent }: Spooled): string {
  return `${directory}/${from_ns}-${to_ns}.${sent ? "sent" : "new"}.json.gz`;
}
