/**
 * The destination of a spool: the service, and the project that has its windows. A file of the spool says
 * it, so that what a crashed run left goes to the same project, whichever key the next run has.
 */

import { writeWhole } from "../base/files.ts";

/** Content of the file. */
interface Kept {
  base: string;
  /** Hash of the newest key for it. */
  key?: string;
  /** The project; `null`: the service does not name it; absent: no upload was accepted yet. */
  project?: string | null;
}

/** Where the windows of one spool belong. */
export class Destination {
  readonly #path: string;
  readonly #kept: Kept;
  /** Whether another run has left it. */
  readonly #left: boolean;
  /** The newest write of the file. */
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string, kept: Kept, left: boolean) {
    this.#path = path;
    this.#kept = kept;
    this.#left = left;
  }

  /** That of this run's spool in `directory`: its first accepted upload tells the project. */
  static of(directory: string, base: string): Destination {
    return new Destination(fileOf(directory), { base: base.replace(/\/+$/, "") }, false);
  }

  /** That of a spool which another run has left; `undefined`: it does not say. */
  static async left(directory: string): Promise<Destination | undefined> {
    try {
      const path = fileOf(directory);
      const kept: Kept = JSON.parse(await Deno.readTextFile(path));
      return typeof kept.base === "string" ? new Destination(path, kept, true) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Base URL of the service, without a slash at its end. */
  get base(): string {
    return this.#kept.base;
  }

  /** The project, once it is known. */
  get project(): string | undefined {
    return this.#kept.project ?? undefined;
  }

  /** Whether a window may be sent with the key: the service refuses one of another project if it is known. */
  async mayUse(key: string): Promise<boolean> {
    const hash = await hashOf(key, this.base);
    if (this.project !== undefined || hash === this.#kept.key) {
      // Another call may have noted the key just now: nothing is written later than what is sent with it.
      await this.#saving;
      return true;
    }
    if (this.#left || this.#kept.project === null) return false;
    this.#kept.key = hash;
    await this.#save();
    return true;
  }

  /** Notes that the service accepts the key, for the project that it names; whether that is news. */
  async accepted(key: string, project: string | undefined): Promise<boolean> {
    const hash = await hashOf(key, this.base);
    const known = this.#kept.project;
    if (hash === this.#kept.key && known !== undefined && known === (project ?? known)) {
      return false;
    }
    this.#kept.key = hash;
    this.#kept.project = project ?? known ?? null;
    await this.#save();
    return true;
  }

  /** Whether what waits for another destination belongs to the project of this one. */
  includes(left: Destination): boolean {
    const { base, key, project } = this.#kept;
    const other = left.#kept;
    if (base !== other.base) return false;
    if (key !== undefined && key === other.key) return true;
    return typeof project === "string" && project === other.project;
  }

  #save(): Promise<void> {
    const text = JSON.stringify(this.#kept);
    // Without a disk nothing is left for another run; an older file names the same project or none.
    this.#saving = this.#saving.then(() => writeWhole(this.#path, text)).catch(() => {});
    return this.#saving;
  }
}

function fileOf(directory: string): string {
  return `${directory}/destination`;
}

/** Tells keys apart without telling them. */
async function hashOf(key: string, base: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${base}\n${key}`));
  return new Uint8Array(digest).toHex();
}
