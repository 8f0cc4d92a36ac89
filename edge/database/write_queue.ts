/** The queue of writes to one database. */

import type { InStatement, ResultSet } from "@libsql/client";
import { LibsqlBatchError } from "@libsql/client/web";
import { yieldToEventLoop } from "@service/core/yield";

/** Does statements all or none. */
type Batch = (statements: InStatement[]) => Promise<ResultSet[]>;

interface Write {
  statements: InStatement[];
  resolve: (results: ResultSet[]) => void;
  reject: (error: unknown) => void;
}

const MAX_GROUP = 64;

/**
 * Writes one after the other, those that wait as one transaction: what a commit costs (a file is
 * synced, a server asked) is shared, and a server that parallel writes would choke gets none.
 */
export class WriteQueue {
  readonly #batch: Batch;
  readonly #waiting: Write[] = [];
  #busy = false;

  /** For writes through `batch`. */
  constructor(batch: Batch) {
    this.#batch = batch;
  }

  /** Writes that wait for their turn. */
  get depth(): number {
    return this.#waiting.length;
  }

  /** Results of statements that are done all or none. */
  write(statements: InStatement[]): Promise<ResultSet[]> {
    const { promise, resolve, reject } = Promise.withResolvers<ResultSet[]>();
    this.#waiting.push({ statements, resolve, reject });
    if (!this.#busy) this.#writeAll();
    return promise;
  }

  async #writeAll(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      // Requests that are ready to write join.
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
        // One failed and took the others back with it.
        for (const one of group) await this.#writeTogether([one]);
      } else {
        for (const { reject } of group) reject(error);
      }
    }
  }
}
