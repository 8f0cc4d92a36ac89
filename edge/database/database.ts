/** One database: statements, how they are run, and which failures are retried. */

import type {
  Config,
  InStatement as Statement,
  InValue as Value,
  ResultSet as Result,
  Row,
} from "@libsql/client";
import type { UsedClient } from "./file_client.ts";
import { isBusy, isClosed, isLost, Unavailable, unavailable } from "./unavailable.ts";
import { WriteQueue } from "./write_queue.ts";

export type { Result, Row, Statement, Value };

/** A libSQL database: an embedded file or a server. Integers are `bigint`. */
export interface Database extends Disposable {
  /** Result of one statement that reads. */
  query(statement: Statement): Promise<Result>;
  /** Results of statements that all read the same state: one round trip. */
  read(statements: Statement[]): Promise<Result[]>;
  /** Results of statements in one transaction: one round trip. */
  write(statements: Statement[]): Promise<Result[]>;
}

/** A database and its token. */
export interface DatabaseOptions {
  /** `file:…`, or any URL of a libSQL server. */
  url: string;
  token?: string;
  /** How long each attempt waits for another process that writes to the file. */
  busy_ms?: number;
  /** Called for each failure. */
  onFailure?: (outcome: "retried" | "failed") => void;
}

const ATTEMPTS = 6;
const FIRST_DELAY_MS = 25;
const ANSWER_TIMEOUT_MS = 20_000;

/** Opens a database. */
export async function openDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  // Only the needed driver is loaded: the one for files is native code.
  const isFile = options.url.startsWith("file:");
  const createClient = isFile
    ? (await import("./file_client.ts")).createFileClient
    : (await import("@libsql/client/web")).createClient;
  const db = new OpenDatabase(options, createClient);
  if (isFile) await db.query("PRAGMA journal_mode = WAL");
  return db;
}

/** A database with its client and its queue of writes. */
export class OpenDatabase implements Database {
  readonly #create: () => UsedClient;
  readonly #onFailure: NonNullable<DatabaseOptions["onFailure"]>;
  readonly #isFile: boolean;
  readonly #writes: WriteQueue;
  #client: UsedClient;
  #closed = false;

  /** Of the database at the URL; {@linkcode openDatabase} also prepares a file. */
  constructor(options: DatabaseOptions, createClient: (config: Config) => UsedClient) {
    const { url, token, busy_ms = 5000, onFailure = () => {} } = options;
    this.#isFile = url.startsWith("file:");
    this.#create = () =>
      createClient({
        url,
        intMode: "bigint",
        ...(this.#isFile ? { timeout: busy_ms } : { fetch: fetchInTime }),
        ...(token && { authToken: token }),
      });
    this.#onFailure = onFailure;
    this.#client = this.#create();
    this.#writes = new WriteQueue((statements) =>
      this.#retry((client) => client.batch(statements, "write"))
    );
  }

  /** Number of waiting writes. */
  get waitingWrites(): number {
    return this.#writes.depth;
  }

  query(statement: Statement): Promise<Result> {
    return this.#retry((client) => client.execute(statement));
  }

  read(statements: Statement[]): Promise<Result[]> {
    return this.#retry((client) => client.batch(statements, "read"));
  }

  write(statements: Statement[]): Promise<Result[]> {
    return this.#writes.write(statements);
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#client.close();
  }

  async #retry<T>(work: (client: UsedClient) => Promise<T>): Promise<T> {
    for (let attempt = 1;; attempt++) {
      const used = this.#client;
      try {
        return await work(used);
      } catch (error) {
        const passes = isBusy(error) || isClosed(error);
        const again = passes && !this.#closed && attempt < ATTEMPTS;
        if (passes || isLost(error)) this.#onFailure(again ? "retried" : "failed");
        if (!again) throw passes || isLost(error) ? unavailable(error) : error;
        this.#replace(used);
        await delay(Math.random() * FIRST_DELAY_MS * 2 ** attempt);
      }
    }
  }

  /** The client of a file is unusable once it found the file busy in a batch. */
  #replace(used: UsedClient): void {
    if (!this.#isFile || used !== this.#client) return;
    this.#client = this.#create();
    used.close();
  }
}

/**
 * The statement with those of `args` that it names: a server refuses others.
 *
 * @throws {TypeError} If an argument that it names is missing.
 */
export function statement(sql: string, args: Record<string, Value | undefined>): Statement {
  let names = namesIn.get(sql);
  if (!names) namesIn.set(sql, names = [...new Set(sql.match(/(?<=:)[a-z_0-9]+/g))]);
  const named: Record<string, Value> = {};
  for (const name of names) {
    const value = args[name];
    if (value === undefined) throw new TypeError(`Cannot bind :${name}: the argument is missing`);
    named[name] = value;
  }
  return { sql, args: named };
}

/** Parameters by statement; there are few statements. */
const namesIn = new Map<string, string[]>();

/** Fetches an answer to its end: one that stops in the middle would delay all writes behind it. */
async function fetchInTime(request: Request): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException("the database does not answer", "TimeoutError")),
    ANSWER_TIMEOUT_MS,
  );
  try {
    const response = await fetch(request, { signal: late.signal });
    return new Response(await response.arrayBuffer(), response);
  } catch (error) {
    throw new Unavailable(error);
  } finally {
    clearTimeout(timer);
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
