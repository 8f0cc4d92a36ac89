/** The databases of projects: their locations, and the open ones. */

import { LibsqlError } from "@libsql/client/web";
import { type OpenDatabase, openDatabase } from "./database.ts";
import { Lease } from "./lease.ts";
import { type Migration, MIGRATIONS } from "./migrations.ts";
import { guardOf, migrate } from "./schema.ts";

/** The location of the database that holds the rows of a project. */
export interface DatabaseLocation {
  /** Row id of the project. */
  id: bigint;
  /** A URL, {@linkcode SIBLING_FILE}, or `null` for the database of projects and keys. */
  database_url: string | null;
}

/** The location of a project with a file of its own, beside the file of projects and keys. */
export const SIBLING_FILE = "beside";

/** The databases, and how they are opened. */
export interface DatabasesOptions {
  /** The database of projects and keys. */
  url: string;
  /** Token for servers without an `authToken` in the URL. */
  token?: string;
  /** Most databases of projects that stay open while they are idle. */
  max_open?: number;
  onFailure?: (outcome: "retried" | "failed") => void;
  /** Called when the database of projects and keys has refused this program. */
  onRefused?: (reason: Error) => void;
  /** The schema that is used. */
  migrations?: readonly Migration[];
}

interface OpenEntry {
  opening: Promise<OpenDatabase>;
  leases: number;
  /** By the clock of `performance`. */
  used_ms: number;
}

const IDLE_MS = 60_000;

/** The database of projects and keys, and those of projects, which are opened and migrated on first use. */
export class Databases implements AsyncDisposable {
  /** The database of projects and keys. */
  readonly control: OpenDatabase;
  readonly #options: DatabasesOptions;
  readonly #open = new Map<string, OpenEntry>();

  /** With an open database of projects and keys; {@linkcode openDatabases} opens it. */
  constructor(control: OpenDatabase, options: DatabasesOptions) {
    this.control = control;
    this.#options = options;
  }

  /** Location of a new project, unless another one is given. */
  get defaultLocation(): string | null {
    return this.#options.url.startsWith("file:") ? SIBLING_FILE : null;
  }

  /**
   * The URL of the database of a project.
   *
   * @throws {RangeError} If it should be a file beside a server.
   */
  urlOf({ id, database_url }: DatabaseLocation): string {
    const { url } = this.#options;
    if (database_url !== SIBLING_FILE) return database_url ?? url;
    if (this.defaultLocation === SIBLING_FILE) return `${url}.projects/${id}.db`;
    throw new RangeError("Cannot keep a project beside the keys: these are on a server");
  }

  /** The database of a project, open until the lease is disposed. */
  async lease(location: DatabaseLocation): Promise<Lease> {
    const url = this.urlOf(location);
    if (url === this.#options.url) return new Lease(this.control, () => {});
    let entry = this.#open.get(url);
    if (!entry) {
      entry = { opening: this.#openAt(url), leases: 0, used_ms: 0 };
      this.#open.set(url, entry);
    }
    const leased = entry;
    leased.leases++;
    const release = () => {
      leased.leases--;
      leased.used_ms = performance.now();
      if (this.#open.size > (this.#options.max_open ?? 64)) this.closeIdle(0);
    };
    try {
      return new Lease(await leased.opening, release);
    } catch (error) {
      if (this.#open.get(url) === leased) this.#open.delete(url);
      throw error;
    }
  }

  /** Closes databases that are idle for longer. */
  closeIdle(idle_ms = IDLE_MS): void {
    const before_ms = performance.now() - idle_ms;
    for (const [url, { opening, leases, used_ms }] of this.#open) {
      if (leases > 0 || used_ms > before_ms) continue;
      this.#open.delete(url);
      opening.then((db) => db[Symbol.dispose]());
    }
  }

  /** Number of waiting writes, in all open databases. */
  async waitingWrites(): Promise<number> {
    return (await this.#all()).reduce((sum, { waitingWrites }) => sum + waitingWrites, 0);
  }

  /** Looks whether the schemas of open databases still allow this program; each refuses all if not. */
  async check(): Promise<void> {
    // One that does not answer is checked the next time.
    await Promise.allSettled((await this.#all()).map((db) => db.check()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const db of await this.#all()) db[Symbol.dispose]();
  }

  /** All databases that are open. */
  async #all(): Promise<OpenDatabase[]> {
    const open = await Promise.allSettled([...this.#open.values()].map(({ opening }) => opening));
    const opened = open.flatMap((db) => db.status === "fulfilled" ? [db.value] : []);
    return [this.control, ...opened];
  }

  async #openAt(url: string): Promise<OpenDatabase> {
    if (url.startsWith("file:")) await makeFolder(url);
    return await openMigrated({ ...this.#options, url, onRefused: undefined }).catch(asUserError);
  }
}

/** Opens and migrates the database of projects and keys. */
export async function openDatabases(options: DatabasesOptions): Promise<Databases> {
  return new Databases(await openMigrated(options), options);
}

async function openMigrated(options: DatabasesOptions): Promise<OpenDatabase> {
  const { migrations = MIGRATIONS } = options;
  const db = await openDatabase(options);
  try {
    await migrate(db, migrations);
  } catch (error) {
    db[Symbol.dispose]();
    throw error;
  }
  db.guard(guardOf(migrations.length));
  return db;
}

/** The failure of a database as one line for its operator. */
export function sentence(error: unknown): string {
  const { message } = error as Error;
  return message.startsWith("Cannot ") ? message : `Cannot use the database: ${message}`;
}

/** Throws a wrong URL as a mistake of the caller. */
function asUserError(error: unknown): never {
  const isUrl = error instanceof LibsqlError && error.code.startsWith("URL_");
  throw isUrl ? new RangeError(`Cannot use the database's URL: ${error.message}`) : error;
}

async function makeFolder(url: string): Promise<void> {
  const path = decodeURIComponent(url.replace(/^file:(\/\/)?/, ""));
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")) || ".", { recursive: true });
}
