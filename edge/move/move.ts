/** Moving a project to another database: block its writes, copy, switch. */

import { type Database, statement } from "../database/database.ts";
import type { Databases } from "../database/databases.ts";
import { tablesOf } from "../database/tables.ts";
import {
  BLOCK_SECONDS,
  blockWrites,
  keepBlocked,
  renewBlock,
  unblockWrites,
  type WriteBlock,
} from "../database/write_block.ts";
import { findProject } from "../tenancy/projects.ts";
import { clear, copyAll, verify } from "./table_copy.ts";

/** A project and its new database. */
export interface MoveOptions {
  project: string;
  /** A URL, `SIBLING_FILE`, or `null` for the database of projects and keys. */
  to: string | null;
}

/**
 * Copies the project's rows to another database and switches to it; the old rows stay where they
 * are, blocked. Uploads are refused meanwhile, to be sent again; reads go on. A move that dies blocks
 * them no longer than {@linkcode BLOCK_SECONDS} and may be run again; a move to where the project is
 * ends the block at once.
 *
 * @throws {RangeError} If the project cannot be moved there.
 */
export async function moveProject(databases: Databases, options: MoveOptions): Promise<void> {
  const { control } = databases;
  const project = await findProject(control, options.project);
  const { id } = project;
  const location = { id, database_url: options.to };
  const block = { project: id, token: crypto.randomUUID() };
  // From here on no earlier move of the project can switch.
  await control.write([statement(CLAIM, { ...block })]);
  using source = await databases.lease(project);
  if (databases.urlOf(project) === databases.urlOf(location)) {
    return await unblockWrites(source, { project: id });
  }
  using target = await databases.lease(location);
  await blockWrites(source, block);
  let isSwitching = false;
  try {
    await expectFit(target, block);
    await unblockWrites(target, { project: id });
    const tables = await tablesOf(source);
    const onPage = () => renewBlock(source, block);
    const copy = { from: source, to: target, tables, project: id, onPage };
    await clear(copy);
    await copyAll(copy);
    await verify(copy);
    const deadline_s = await now_s(control) + BigInt(BLOCK_SECONDS);
    await renewBlock(source, block);
    isSwitching = true;
    const args = { ...block, deadline_s, database_url: options.to };
    const [switched] = await control.write([statement(SWITCH, args)]);
    isSwitching = switched!.rowsAffected > 0;
    if (!isSwitching) {
      throw new Error("Cannot finish the move: it took too long, or another one has begun");
    }
    await keepBlocked(source, block);
  } catch (error) {
    // If the answer to the switch was lost, the switch may be done: the block ends by itself.
    if (!isSwitching) await unblockWrites(source, block);
    throw error;
  }
}

const CLAIM = "UPDATE projects SET move_token = :token WHERE id = :project";

/** Only while the block is certain to last: it was renewed after the deadline was set, by one clock. */
const SWITCH = `UPDATE projects SET database_url = :database_url, is_made = 1
  WHERE id = :project AND move_token = :token AND unixepoch() < :deadline_s`;

async function now_s(db: Database): Promise<bigint> {
  const { rows: [row] } = await db.query("SELECT unixepoch() AS now_s");
  return row!.now_s as bigint;
}

/** @throws {RangeError} If the target is the source, or has instances of another project. */
async function expectFit(target: Database, { project, token }: WriteBlock): Promise<void> {
  const [own, others] = await target.read([
    statement("SELECT 1 FROM write_blocks WHERE token = :token", { token }),
    statement("SELECT 1 FROM instances WHERE project <> :project LIMIT 1", { project }),
  ]);
  if (own!.rows.length > 0) {
    throw new RangeError("Cannot move the project: both URLs lead to the same database");
  }
  if (others!.rows.length > 0) {
    throw new RangeError("Cannot move the project: the database holds another project's instances");
  }
}
