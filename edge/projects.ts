import { type Database, statement } from "./database.ts";
import { makeKey } from "./keys.ts";

/** A key as the list shows it. */
export interface ListedKey {
  prefix: string;
  name: string;
  project: string;
  created_ns: bigint;
  revoked_ns: bigint | null;
}

/** A project as the list shows it. */
export interface ListedProject {
  name: string;
  created_ns: bigint;
  /** Keys that are not revoked. */
  keys: bigint;
  instances: bigint;
}

/** Which key to make. */
export interface CreateKeyOptions {
  /** Created when there is none of the name. */
  project: string;
  name: string;
  now_ns: bigint;
}

/** Stores a new key and gives it: this once. */
export async function createKey(db: Database, options: CreateKeyOptions): Promise<string> {
  const { key, ...stored } = makeKey();
  const args = { ...options, ...stored };
  await db.write([
    statement(
      `INSERT INTO projects (name, created_ns) VALUES (:project, :now_ns) ON CONFLICT DO NOTHING`,
      args,
    ),
    statement(
      `INSERT INTO keys (project, name, prefix, hash, created_ns)
        SELECT id, :name, :prefix, :hash, :now_ns FROM projects WHERE name = :project`,
      args,
    ),
  ]);
  return key;
}

/** All keys, the oldest first. */
export async function listKeys(db: Database): Promise<ListedKey[]> {
  const { rows } = await db.query(
    `SELECT k.prefix, k.name, p.name AS project, k.created_ns, k.revoked_ns
      FROM keys k JOIN projects p ON p.id = k.project ORDER BY k.id`,
  );
  return rows as unknown as ListedKey[];
}

/** All projects, the oldest first. */
export async function listProjects(db: Database): Promise<ListedProject[]> {
  const { rows } = await db.query(
    `SELECT name, created_ns,
        (SELECT count(*) FROM keys WHERE project = p.id AND revoked_ns IS NULL) AS keys,
        (SELECT count(*) FROM instances WHERE project = p.id) AS instances
      FROM projects p ORDER BY id`,
  );
  return rows as unknown as ListedProject[];
}

/** Ends the use of a key for good; says whether there is one of the prefix. */
export async function revokeKey(db: Database, prefix: string, now_ns: bigint): Promise<boolean> {
  const [result] = await db.write([{
    sql: "UPDATE keys SET revoked_ns = coalesce(revoked_ns, ?) WHERE prefix = ?",
    args: [now_ns, prefix],
  }]);
  return result!.rowsAffected > 0;
}
