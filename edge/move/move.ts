import type { Database } from "../database/database.ts";
import type { Databases } from "../database/databases.ts";
import { lower, raise, record, stopRecording } from "../database/write_block.ts";
import { findProject } from "../tenancy/projects.ts";
import { clear, type Copy, copyAll, copyChanges, verify } from "./table_copy.ts";
import { tablesOf } from "../database/tables.ts";

/** Which project goes where. */
export interface MoveOptions {
  project: string;
  /** A URL, `BESIDE`, or `null` for the database of projects and keys. */
  to: string | null;
}

/** Fewer changes than this are copied while uploads wait. */
const FEW_CHANGES = 64;
/** Uploads wait even where changes come as fast as they are copied. */
const MAX_ROUNDS = 1_000;
const ATTEMPTS = 3;

/**
 * Copies the project's rows to another database and switches to it; the old rows stay where they
 * are. Uploads are refused, to be sent again, from the last changes on: the database itself refuses
 * them, so that no process, however much behind, stores what would not be copied. Interrupted, it is
 * run again; with the database where the project is, it undoes what an interrupted move began.
 *
 * @throws {RangeError} If it cannot be meant.
 */
export async function moveProject(databases: Databases, options: MoveOptions): Promise<void> {
  const { control } = databases;
  const project = await findProject(control, options.project);
  using source = await databases.lease(project);
  const target_place = { id: project.id, database_url: options.to };
  if (databases.urlOf(project) === databases.urlOf(target_place)) {
    return await lower(source, project.id);
  }
  using target = await databases.lease(target_place);
  const token = await claim(source, project.id);
  await expectFit(target, { project: project.id, token });
  const tables = await tablesOf(source);
  const copy = { from: source, to: target, tables, project: project.id };
  let switching = false;
  try {
    await lower(target, project.id);
    await clear(copy);
    await record(source, tables, project.id);
    await copyAll(copy);
    const seq = await catchUp(copy, 0n, FEW_CHANGES);
    await raise(source, tables, project.id);
    await finish(copy, seq);
    if (await tokenIn(source, project.id) !== token) {
      throw new Error("Cannot finish the move: another one of the project has begun");
    }
    switching = true;
    await control.write([{
      sql: "UPDATE projects SET database_url = ? WHERE id = ? AND database_url IS ?",
      args: [options.to, project.id, project.database_url],
    }]);
    await stopRecording(source, project.id);
  } catch (error) {
    // Whether it is switched is not known where the answer was lost: then nothing may be written.
    if (!switching) await lower(source, project.id);
    throw error;
  }
}

/** Copies changes until at most so many came meanwhile; gives the last one. */
async function catchUp(copy: Copy, seq: bigint, few: number): Promise<bigint> {
  for (let round = 0;; round++) {
    const copied = await copyChanges(copy, seq);
    seq = copied.seq;
    if (copied.count === 0 || copied.count <= few || few > 0 && round > MAX_ROUNDS) return seq;
  }
}

/** Copies the last changes and verifies all: again where old rows were removed meanwhile. */
async function finish(copy: Copy, seq: bigint): Promise<void> {
  for (let attempt = 1;; attempt++) {
    seq = await catchUp(copy, seq, 0);
    try {
      return await verify(copy);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Marks the database as the source of this move. */
async function claim(db: Database, project: bigint): Promise<string> {
  const token = crypto.randomUUID();
  await db.write([{ sql: "INSERT OR REPLACE INTO moves VALUES (?, ?)", args: [project, token] }]);
  return token;
}

async function tokenIn(db: Database, project: bigint): Promise<unknown> {
  const { rows: [row] } = await db.query({
    sql: "SELECT token FROM moves WHERE project = ?",
    args: [project],
  });
  return row?.token;
}

async function expectFit(target: Database, { project, token }: { project: bigint; token: string }) {
  if (await tokenIn(target, project) === token) {
    throw new RangeError("Cannot move the project: both URLs lead to the same database");
  }
  const { rows } = await target.query({
    sql: "SELECT 1 FROM instances WHERE project <> ? LIMIT 1",
    args: [project],
  });
  if (rows.length > 0) {
    throw new RangeError("Cannot move the project: the database holds another project's instances");
  }
}
