/** Temporary failures of a database: the request may be sent again later. */

import { LibsqlError } from "@libsql/client/web";

/** A database is out of reach, stays busy, or accepts no writes for now. */
export class Unavailable extends Error {
  /** Name of the class. */
  override readonly name = "Unavailable";

  /** With its cause. */
  constructor(cause: unknown) {
    super(`Cannot use the database for now: ${(cause as Error).message}`, { cause });
  }
}

/** The error as a temporary one. */
export function unavailable(error: unknown): Unavailable {
  return error instanceof Unavailable ? error : new Unavailable(error);
}

/** Whether another writer held the database. */
export function isBusy(error: unknown): boolean {
  return error instanceof LibsqlError &&
    (/^SQLITE_(BUSY|LOCKED)/.test(error.code) || error.message.includes("SQLITE_BUSY"));
}

/** Whether the client was closed, to be replaced by another. */
export function isClosed(error: unknown): boolean {
  return error instanceof LibsqlError && error.code === "CLIENT_CLOSED";
}

/** Whether the database is out of reach, out of space, or configured to refuse. */
export function isLost(error: unknown): boolean {
  if (error instanceof LibsqlError) return LOST.test(error.code);
  return error instanceof Unavailable ||
    error instanceof TypeError && /error (reading|decoding|sending)/.test(error.message);
}

const LOST =
  /^(HRANA_(CLOSED|WEBSOCKET)_ERROR|SERVER_ERROR|BLOCKED|SQLITE_(FULL|IOERR|CANTOPEN|READONLY).*)$/;
