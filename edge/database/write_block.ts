/** The write block: while a project is copied its database refuses to add to it, in every process. */

import { LibsqlError } from "@libsql/client/web";
import { type Database, statement } from "./database.ts";
import { WRITES_BLOCKED } from "./migrations.ts";

/** Time that a block lasts after its last renewal: a move that dies blocks no longer. */
export const BLOCK_SECONDS = 60;

/** A block of the writes to one project, by one move. */
export interface WriteBlock {
  /** Row id of the project. */
  project: bigint;
  /** Identifier of the move. */
  token: string;
}

/** Whether a write was refused because its project is being moved, or was moved away. */
export function isBlocked(error: unknown): boolean {
  return error instanceof LibsqlError && error.message.includes(WRITES_BLOCKED);
}

/** Blocks writes for {@linkcode BLOCK_SECONDS}; takes over the block of another move. */
export async function blockWrites(db: Database, block: WriteBlock): Promise<void> {
  await db.write([statement(BLOCK, { ...block })]);
}

/**
 * Blocks writes for {@linkcode BLOCK_SECONDS} from now on.
 *
 * @throws {Error} If the block has ended, or another move has taken it over.
 */
export async function renewBlock(db: Database, block: WriteBlock): Promise<void> {
  const [renewed] = await db.write([statement(RENEW, { ...block })]);
  if (renewed!.rowsAffected === 0) throw new Error("Cannot move on: the block of writes has ended");
}

/** Blocks writes permanently: the project has another database now. */
export async function keepBlocked(db: Database, block: WriteBlock): Promise<void> {
  await db.write([statement(KEEP, { ...block })]);
}

/** Ends the block of a move; without a token the block of any move. */
export async function unblockWrites(
  db: Database,
  { project, token = null }: { project: bigint; token?: string | null },
): Promise<void> {
  await db.write([statement(UNBLOCK, { project, token })]);
}

/** The condition that writes to the project of a row of `instances` are blocked. */
export const IS_BLOCKED = `EXISTS (SELECT 1 FROM write_blocks b
  WHERE b.project = instances.project AND (until_s IS NULL OR until_s > unixepoch()))`;

/** The condition that no project of the database is being copied. */
export const NOTHING_IS_COPIED =
  "NOT EXISTS (SELECT 1 FROM write_blocks WHERE until_s > unixepoch())";

const BLOCK = `INSERT OR REPLACE INTO write_blocks (project, token, until_s)
  VALUES (:project, :token, unixepoch() + ${BLOCK_SECONDS})`;

const RENEW = `UPDATE write_blocks SET until_s = unixepoch() + ${BLOCK_SECONDS}
  WHERE project = :project AND token = :token AND until_s > unixepoch()`;

const KEEP = "UPDATE write_blocks SET until_s = NULL WHERE project = :project AND token = :token";

const UNBLOCK = `DELETE FROM write_blocks
  WHERE project = :project AND (:token IS NULL OR token = :token)`;
