/** The queue of writes to one database. */

import type { InStatement, ResultSet } from "@libsql/client";
import { LibsqlBatchError } from "@libsql/client/web";
import { yieldToEventLoop } from "@service/core/yield";

/** Runs statements in one transaction. */
type Batch = (statements: InStatement[]) => Promise<ResultSet[]>;

interface Write {
  statements: InStatement[];
  resolve: (results: ResultSet[]) => void;
  reject: (error: unknown) => void;
}

const MAX_GROUP = 64;

/**
 * Writes one after the other, waiting ones together in one transaction: they share the cost of a commit
 * (the sync of a file, the round trip to a server), and no server gets parallel writes, which stall it.
 */
export class WriteQueue {
  readonly #batch: Batch;
  readonly #waiting: Write[] = [];
  #busy = false;

  /** Of writes that `batch` runs. */
  constructor(batch: Batch) {
    this.#batch = batch;
  }

  /** Number of waiting writes. */
  get depth(): number {
    return this.#waiting.length;
  }

  /** Results of statements in one transaction. */
  write(statements: InStatement[]): Promise<ResultSet[]> {
    const { promise, resolve, reject } = Promise.withResolvers<ResultSet[]>();
    this.#waiting.push({ statements, resolve, reject });
    if (!this.#busy) this.#writeAll();
    return promise;
  }

  async #writeAll(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      // Writes of requests that are ready join this transaction.
      await yieldToEventLoop();
      await this.#writeTogether(this.#waiting.splice(0, MAX_GROUP));
    }
    this.#busy = false;
  }

  async #writeTogether(group: Write[]): Promise<void> {
    try {
      const results = await this.#batch(group.flatMap(({ statements }) => statements));
      for (const { statements, resolve } of group) resolve(results.splice(0, statements.length));
    } catch (error) {
      if (group.length > 1 && error instanceof LibsqlBatchError) {
        // One write failed, and the transaction was undone: each is written alone.
        for (const write of group) await this.#writeTogether([write]);
      } else {
        for (const { reject } of group) reject(error);
      }
    }
  }
}
