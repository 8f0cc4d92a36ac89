import {
  type Client,
  type Config,
  createClient,
  type InStatement,
  type InValue,
  LibsqlError,
  type ResultSet,
} from "@libsql/client";
import { WriteQueue } from "./write_queue.ts";

/** Where the database is, and how to get in. */
export interface DatabaseOptions {
  /** `file:…`, or any URL of a libSQL server. */
  url: string;
  token?: string;
  /** How long a file that another process writes to is waited for, each time. */
  busy_ms?: number;
}

const ATTEMPTS = 6;
const FIRST_DELAY_MS = 25;

/** A libSQL database: an embedded file or a server. Integers are `bigint`. */
export class Database implements Disposable {
  readonly #config: Config;
  readonly #isFile: boolean;
  readonly #writes: WriteQueue;
  #client: Client;
  #closed = false;

  /** For the database at the URL; {@linkcode openDatabase} also readies a file. */
  constructor({ url, token, busy_ms = 5000 }: DatabaseOptions) {
    this.#config = { url, intMode: "bigint", timeout: busy_ms, ...(token && { authToken: token }) };
    this.#isFile = url.startsWith("file:");
    this.#client = createClient(this.#config);
    this.#writes = new WriteQueue((statements) =>
      this.#retry((client) => client.batch(statements, "write"))
    );
  }

  /** Result of one statement that reads. */
  query(statement: InStatement): Promise<ResultSet> {
    return this.#retry((client) => client.execute(statement));
  }

  /** Results of statements that all read the same state: one round trip. */
  read(statements: InStatement[]): Promise<ResultSet[]> {
    return this.#retry((client) => client.batch(statements, "read"));
  }

  /** Results of statements that are done all or none: one round trip. */
  write(statements: InStatement[]): Promise<ResultSet[]> {
    return this.#writes.write(statements);
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#client.close();
  }

  async #retry<T>(work: (client: Client) => Promise<T>): Promise<T> {
    for (let attempt = 1;; attempt++) {
      const used = this.#client;
      try {
        return await work(used);
      } catch (error) {
        if (this.#closed || attempt === ATTEMPTS || !passes(error)) throw error;
        this.#replace(used);
        await delay(Math.random() * FIRST_DELAY_MS * 2 ** attempt);
      }
    }
  }

  /** A file's client cannot be used any more once it found the file busy in a batch. */
  #replace(used: Client): void {
    if (!this.#isFile || used !== this.#client) return;
    this.#client = createClient(this.#config);
    used.close();
  }
}

/** The database, ready for use. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const db = new Database(options);
  if (options.url.startsWith("file:")) await db.query("PRAGMA journal_mode = WAL");
  return db;
}

/** The statement with those of `args` that it names: a server refuses further ones. */
export function statement(sql: string, args: Record<string, InValue | undefined>): InStatement {
  let names = namesIn.get(sql);
  if (!names) namesIn.set(sql, names = [...new Set(sql.match(/(?<=:)[a-z_0-9]+/g))]);
  const named: Record<string, InValue> = {};
  for (const name of names) named[name] = args[name] ?? null;
  return { sql, args: named };
}

/** Parameters by statement; there are but a few statements. */
const namesIn = new Map<string, string[]>();

/** Whether trying again can help: the database was busy, or its client was just replaced. */
function passes(error: unknown): boolean {
  return error instanceof LibsqlError &&
    (error.code === "SQLITE_BUSY" || error.code === "SQLITE_LOCKED" ||
      error.code === "CLIENT_CLOSED" || error.message.includes("SQLITE_BUSY"));
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
