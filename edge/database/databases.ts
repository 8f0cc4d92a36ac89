import { LibsqlError } from "@libsql/client/web";
import { type OpenDatabase, openDatabase } from "./database.ts";
import { Lease } from "./lease.ts";
import { migrate } from "./migrations.ts";

/** Which database holds the rows of a project. */
export interface DatabaseLocation {
  /** Row id of the project. */
  id: bigint;
  /** A URL, {@linkcode SIBLING_FILE}, or `null` for the database of the keys itself. */
  database_url: string | null;
}

/** The place of a project that has a file beside the one of the keys. */
export const SIBLING_FILE = "beside";

/** Where the databases are. */
export interface DatabasesOptions {
  /** The database of projects and keys. */
  url: string;
  /** For each server whose URL has no `authToken` of its own. */
  token?: string;
  /** How many databases of projects stay open when nothing uses them. */
  max_open?: number;
  onFailure?: (outcome: "retried" | "failed") => void;
}

interface Entry {
  opening: Promise<OpenDatabase>;
  leases: number;
  /** By the clock of `performance`. */
  used_ms: number;
}

const IDLE_MS = 60_000;

/** The database of projects and keys, and those of the projects: opened on first use, brought to the newest schema. */
export class Databases implements AsyncDisposable {
  /** The database of projects and keys. */
  readonly control: OpenDatabase;
  readonly #options: DatabasesOptions;
  readonly #open = new Map<string, Entry>();

  /** For an open database of projects and keys; {@linkcode openDatabases} opens it too. */
  constructor(control: OpenDatabase, options: DatabasesOptions) {
    this.control = control;
    this.#options = options;
  }

  /** Where a new project's rows go unless something else is asked for. */
  get defaultLocation(): string | null {
    return this.#options.url.startsWith("file:") ? SIBLING_FILE : null;
  }

  /**
   * The URL of the database of a project.
   *
   * @throws {RangeError} If it is to be a file beside a server.
   */
  urlOf({ id, database_url }: DatabaseLocation): string {
    const { url } = this.#options;
    if (database_url !== SIBLING_FILE) return database_url ?? url;
    if (this.defaultLocation === SIBLING_FILE) return `${url}.projects/${id}.db`;
    throw new RangeError("Cannot keep a project beside the keys: these are on a server");
  }

  /** The database of a project. */
  async lease(place: DatabaseLocation): Promise<Lease> {
    const url = this.urlOf(place);
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

  /** Closes what nothing used for so long. */
  closeIdle(idle_ms = IDLE_MS): void {
    const before_ms = performance.now() - idle_ms;
    for (const [url, { opening, leases, used_ms }] of this.#open) {
      if (leases > 0 || used_ms > before_ms) continue;
      this.#open.delete(url);
      opening.then((db) => db[Symbol.dispose]());
    }
  }

  /** Writes that wait for their turn, in all databases that are open. */
  async waitingWrites(): Promise<number> {
    const open = await Promise.allSettled([...this.#open.values()].map(({ opening }) => opening));
    return open.reduce(
      (sum, one) => sum + (one.status === "fulfilled" ? one.value.waitingWrites : 0),
      this.control.waitingWrites,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = await Promise.allSettled([...this.#open.values()].map(({ opening }) => opening));
    for (const one of open) if (one.status === "fulfilled") one.value[Symbol.dispose]();
    this.control[Symbol.dispose]();
  }

  async #openAt(url: string): Promise<OpenDatabase> {
    if (url.startsWith("file:")) await makeFolder(url);
    const { token, onFailure } = this.#options;
    const db = await openDatabase({ url, token, onFailure }).catch(asUserError);
    try {
      await migrate(db);
    } catch (error) {
      db[Symbol.dispose]();
      throw error;
    }
    return db;
  }
}

/** The databases, with that of projects and keys brought to the newest schema. */
export async function openDatabases(options: DatabasesOptions): Promise<Databases> {
  const control = await openDatabase(options);
  try {
    await migrate(control);
  } catch (error) {
    control[Symbol.dispose]();
    throw error;
  }
  return new Databases(control, options);
}

/** What is wrong with a URL is the caller's mistake. */
function asUserError(error: unknown): never {
  const isUrl = error instanceof LibsqlError && error.code.startsWith("URL_");
  throw isUrl ? new RangeError(`Cannot use the database's URL: ${error.message}`) : error;
}

async function makeFolder(url: string): Promise<void> {
  const path = decodeURIComponent(url.replace(/^file:(\/\/)?/, ""));
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")) || ".", { recursive: true });
}
