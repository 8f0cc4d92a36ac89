/** The client of embedded files: as that of `@libsql/client`, but statements stay prepared. */

import type { Client, Config, InArgs, InStatement, InValue, ResultSet, Row } from "@libsql/client";
import { LibsqlBatchError, LibsqlError } from "@libsql/client/web";
import Connection from "libsql";
import { Lru } from "@service/core/lru";
import { pathOf } from "./database_file.ts";

/** The part of a client that is used. */
export type UsedClient = Pick<Client, "execute" | "batch" | "close">;

interface Prepared {
  statement: Connection.Statement;
  givesRows: boolean;
}

/** Statements that stay prepared. */
const MAX_PREPARED = 200;

const BEGIN = {
  write: "BEGIN IMMEDIATE",
  read: "BEGIN TRANSACTION READONLY",
  deferred: "BEGIN DEFERRED",
};

/** A client of the file at the URL, with one synchronous connection. */
export function createFileClient(config: Config): UsedClient {
  const client = new FileClient(config);
  return {
    // A failure rejects, and does not throw.
    execute: (given) => Promise.try(() => client.run(given as InStatement)),
    batch: (all, mode = "deferred") =>
      Promise.try(() => client.runAll(all as InStatement[], BEGIN[mode])),
    close: () => client.close(),
  };
}

class FileClient {
  readonly #connection: Connection.Database;
  readonly #prepared = new Lru<string, Prepared>({ max: MAX_PREPARED });

  constructor({ url, timeout }: Config) {
    try {
      this.#connection = new Connection(pathOf(url), { timeout });
    } catch (error) {
      throw asLibsql(error);
    }
  }

  run(given: InStatement): ResultSet {
    if (!this.#connection.open) throw new LibsqlError("The client is closed", "CLIENT_CLOSED");
    const { sql, args = [] } = typeof given === "string" ? { sql: given } : given;
    try {
      return resultOf(this.#prepare(sql), bound(args));
    } catch (error) {
      throw asLibsql(error);
    }
  }

  /** Runs all statements, or none. */
  runAll(statements: InStatement[], begin: string): ResultSet[] {
    const results: ResultSet[] = [];
    this.run(begin);
    try {
      for (const statement of statements) results.push(this.run(statement));
      this.run("COMMIT");
      return results;
    } catch (error) {
      if (this.#connection.inTransaction) this.run("ROLLBACK");
      const at = results.length;
      throw error instanceof LibsqlError && at < statements.length ? inBatch(error, at) : error;
    }
  }

  close(): void {
    this.#prepared.clear();
    if (this.#connection.open) this.#connection.close();
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (!prepared) {
      this.#prepared.set(sql, prepared = prepare(this.#connection, sql));
    }
    return prepared;
  }
}

function prepare(connection: Connection.Database, sql: string): Prepared {
  const statement = connection.prepare(sql).safeIntegers(true);
  try {
    return { statement: statement.raw(true), givesRows: true };
  } catch {
    return { statement, givesRows: false };
  }
}

function resultOf({ statement, givesRows }: Prepared, args: unknown): ResultSet {
  if (!givesRows) {
    const { changes, lastInsertRowid } = statement.run(args);
    return result({ rowsAffected: changes, lastInsertRowid: BigInt(lastInsertRowid) });
  }
  const all = statement.all(args) as unknown[][];
  if (all.length === 0) return result({});
  // Not remembered: another process may have changed the schema.
  const columns = statement.columns().map(({ name }) => name);
  return result({ columns, rows: all.map((values) => rowOf(columns, values)) });
}

function result(part: Partial<ResultSet>): ResultSet {
  const complete = {
    columns: [],
    columnTypes: [],
    rows: [],
    rowsAffected: 0,
    lastInsertRowid: undefined,
    ...part,
  };
  return { ...complete, toJSON: () => complete };
}

function rowOf(columns: string[], values: unknown[]): Row {
  const row: Record<string, unknown> = {};
  columns.forEach((name, i) => {
    const value = values[i];
    row[name] = ArrayBuffer.isView(value) ? value.buffer : value;
  });
  return row as Row;
}

function bound(args: InArgs): unknown {
  if (Array.isArray(args)) return args.map(boundValue);
  const named: Record<string, unknown> = {};
  for (const name in args) named[name] = boundValue(args[name]!);
  return named;
}

function boundValue(value: InValue): unknown {
  if (typeof value === "boolean") return value ? 1n : 0n;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : value;
}

function inBatch({ message, code, extendedCode, rawCode, cause }: LibsqlError, at: number) {
  return new LibsqlBatchError(message, at, code, extendedCode, rawCode, cause as Error);
}

function asLibsql(error: unknown): unknown {
  if (!(error instanceof Connection.SqliteError)) return error;
  const { message, code } = error;
  return new LibsqlError(message, code, code, undefined, error);
}
