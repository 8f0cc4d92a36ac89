/** A lease: a database for one piece of work, which stays open until then. */

import type { Database, Result, Statement } from "./database.ts";

/** A database, and how many rows were read through this lease. */
export class Lease implements Database {
  /** Rows that were read. */
  rows = 0;
  readonly #db: Database;
  readonly #release: () => void;

  /** Of an open database; `release` is called when the lease ends. */
  constructor(db: Database, release: () => void) {
    this.#db = db;
    this.#release = release;
  }

  async query(statement: Statement): Promise<Result> {
    const result = await this.#db.query(statement);
    this.rows += result.rows.length;
    return result;
  }

  async read(statements: Statement[]): Promise<Result[]> {
    return this.#counted(await this.#db.read(statements));
  }

  async write(statements: Statement[]): Promise<Result[]> {
    return this.#counted(await this.#db.write(statements));
  }

  [Symbol.dispose](): void {
    this.#release();
  }

  #counted(results: Result[]): Result[] {
    for (const { rows } of results) this.rows += rows.length;
    return results;
  }
}
