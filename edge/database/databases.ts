/** The databases of projects: their locations, and the open ones. */

import { LibsqlError } from "@libsql/client/web";
import { type OpenDatabase, openDatabase, statement } from "./database.ts";
import { fileIdentity, GoneError, pathOf } from "./database_file.ts";
import { Lease } from "./lease.ts";
import { type Migration, MIGRATIONS } from "./migrations.ts";
import { guardOf, hasSchema, migrate } from "./schema.ts";

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

  /**
   * The database of a project, open until the lease is disposed.
   *
   * @throws {GoneError} If it was made before, and is gone.
   */
  async lease(location: DatabaseLocation): Promise<Lease> {
    const url = this.urlOf(location);
    if (url === this.#options.url) return new Lease(this.control, () => {});
    await this.#forgetGone(url);
    let entry = this.#open.get(url);
    if (!entry) {
      entry = { opening: this.#openAt(url, location), leases: 0, used_ms: 0 };
      this.#open.set(url, entry);
    }
    const leased = entry;
    leased.leases++;
    const release = () => {
      leased.leases--;
      leased.used_ms = performance.now();
      if (this.#open.get(url) !== leased) closeUnused(leased);
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

  /** Looks for the file again at the next use, if it is not the one that was opened. */
  async #forgetGone(url: string): Promise<void> {
    const entry = this.#open.get(url);
    if (!entry || !(await entry.opening.catch(() => null))?.isGone) return;
    if (this.#open.get(url) !== entry) return;
    this.#open.delete(url);
    closeUnused(entry);
  }

  /** Opens a database, which is made if no project with this location has used it before. */
  async #openAt(url: string, { id, database_url }: DatabaseLocation): Promise<OpenDatabase> {
    const location = { id, database_url };
    const { rows: [row] } = await this.control.query(statement(IS_MADE, location));
    const isMade = row!.is_made === 1n;
    const options = { ...this.#options, url, isMade, onRefused: undefined };
    const db = await openMigrated(options).catch(asUserError);
    try {
      if (!isMade) await this.control.write([statement(SET_MADE, location)]);
    } catch (error) {
      db[Symbol.dispose]();
      throw error;
    }
    return db;
  }
}

/** The condition that a project has its rows at a location. */
const IS_THERE = `database_url = :database_url
  AND (database_url <> '${SIBLING_FILE}' OR id = :id)`;

const IS_MADE = `SELECT coalesce(max(is_made), 0) AS is_made FROM projects WHERE ${IS_THERE}`;

const SET_MADE = `UPDATE projects SET is_made = 1 WHERE ${IS_THERE}`;

function closeUnused({ opening, leases }: OpenEntry): void {
  if (leases === 0) opening.then((db) => db[Symbol.dispose]());
}

/**
 * Opens and migrates the database of projects and keys.
 *
 * @throws {GoneError} If its file is gone, and those of projects are not.
 */
export async function openDatabases(options: DatabasesOptions): Promise<Databases> {
  const { url } = options;
  const isFile = url.startsWith("file:");
  if (isFile && fileIdentity(url) === null && hasProjects(url)) throw new GoneError(url);
  return new Databases(await openMigrated(options), options);
}

/** Whether there are files of projects beside the file: their names are row ids of its own. */
function hasProjects(url: string): boolean {
  try {
    return [...Deno.readDirSync(`${pathOf(url)}.projects`)].length > 0;
  } catch {
    return false;
  }
}

/** Opens and migrates a database; `isMade`: whether that of a project was made before. */
async function openMigrated(
  options: DatabasesOptions & { isMade?: boolean },
): Promise<OpenDatabase> {
  const { migrations = MIGRATIONS, url, isMade } = options;
  if (url.startsWith("file:")) {
    if (isMade === false) await makeFolder(url);
    if (isMade && fileIdentity(url) === null) throw new GoneError(url);
  }
  const db = await openDatabase(options);
  try {
    if (isMade && !await hasSchema(db)) throw new GoneError(url);
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
  const path = pathOf(url);
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")) || ".", { recursive: true });
}
