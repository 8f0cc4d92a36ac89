/** One database: statements, how they are run, and which failures are retried. */

import type {
  Config,
  InStatement as Statement,
  InValue as Value,
  ResultSet as Result,
  Row,
} from "@libsql/client";
import { fileIdentity, GoneError } from "./database_file.ts";
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
  /** Called when the {@linkcode Guard} has refused this program. */
  onRefused?: (reason: Error) => void;
}

/** A condition on which a program may use a database; another program may end it at any time. */
export interface Guard {
  /** Precedes the statements of every write, and fails unless the condition holds. */
  statement: Statement;
  /** Why this program must not use the database, or `null` if it may. */
  reason: (query: Database["query"]) => Promise<Error | null>;
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
  if (isFile) {
    await db.query("PRAGMA journal_mode = WAL");
    db.expectSameFile();
  }
  return db;
}

/** A database with its client and its queue of writes. */
export class OpenDatabase implements Database {
  readonly #create: () => UsedClient;
  readonly #onFailure: NonNullable<DatabaseOptions["onFailure"]>;
  readonly #onRefused: NonNullable<DatabaseOptions["onRefused"]>;
  readonly #url: string;
  readonly #isFile: boolean;
  readonly #writes: WriteQueue;
  #client: UsedClient;
  #closed = false;
  #file?: string | null;
  #guard?: Guard;
  #refused: Error | null = null;

  /** Of the database at the URL; {@linkcode openDatabase} also prepares a file. */
  constructor(options: DatabaseOptions, createClient: (config: Config) => UsedClient) {
    const { url, token, busy_ms = 5000, onFailure = () => {}, onRefused = () => {} } = options;
    this.#url = url;
    this.#isFile = url.startsWith("file:");
    this.#create = () =>
      createClient({
        url,
        intMode: "bigint",
        ...(this.#isFile ? { timeout: busy_ms } : { fetch: fetchInTime }),
        ...(token && { authToken: token }),
      });
    this.#onFailure = onFailure;
    this.#onRefused = onRefused;
    this.#client = this.#create();
    this.#writes = new WriteQueue((statements) => this.#batch(statements));
  }

  /** Number of waiting writes. */
  get waitingWrites(): number {
    return this.#writes.depth;
  }

  /** Whether its file is gone, or another is in its place: what is written now would be lost. */
  get isGone(): boolean {
    return this.#file !== undefined && fileIdentity(this.#url) !== this.#file;
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

  /** From now on every statement is refused unless the file is the one that it is now. */
  expectSameFile(): void {
    this.#file = fileIdentity(this.#url);
  }

  /** From now on the database is used on this condition. */
  guard(guard: Guard): void {
    this.#guard = guard;
  }

  /** Asks the {@linkcode Guard} now; until it allows this program again, every statement is refused. */
  async check(): Promise<void> {
    const reason = await this.#guard?.reason((statement) => this.#client.execute(statement));
    this.#refused = reason ?? null;
    if (reason) this.#onRefused(reason);
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#client.close();
  }

  async #batch(statements: Statement[]): Promise<Result[]> {
    const guards = this.#guard ? [this.#guard.statement] : [];
    const results = await this.#retry((client) =>
      client.batch([...guards, ...statements], "write")
    );
    return results.slice(guards.length);
  }

  async #retry<T>(work: (client: UsedClient) => Promise<T>): Promise<T> {
    for (let attempt = 1;; attempt++) {
      if (this.#refused) throw this.#refused;
      if (this.isGone) throw new GoneError(this.#url);
      const used = this.#client;
      try {
        return await work(used);
      } catch (error) {
        const passes = isBusy(error) || isClosed(error);
        const again = passes && !this.#closed && attempt < ATTEMPTS;
        if (passes || isLost(error)) this.#onFailure(again ? "retried" : "failed");
        if (!again && (passes || isLost(error))) throw unavailable(error);
        if (!again) throw await this.#refusal() ?? error;
        this.#replace(used);
        await delay(Math.random() * FIRST_DELAY_MS * 2 ** attempt);
      }
    }
  }

  /** The reason why this program must not use the database, if a failure may be due to that. */
  async #refusal(): Promise<Error | null> {
    try {
      await this.check();
    } catch (error) {
      // A server may have lost its data. Any other failure is told itself.
      if (/no such table: schema/.test(String(error))) return new GoneError(this.#url);
    }
    return this.#refused;
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
