/** Projects and keys: stored, listed, changed and revoked in the database of keys. */

import { createHash } from "node:crypto";
import { refuse } from "@service/core/problem";
import { type Database, statement } from "../database/database.ts";
import { fileIdentity, withoutToken } from "../database/database_file.ts";
import { type DatabaseLocation, type Databases, SIBLING_FILE } from "../database/databases.ts";
import { makeKey, type Scope, SCOPES } from "./keys.ts";
import { type Quotas, readQuotas } from "./quotas.ts";

/** A key in the list of keys. */
export interface ListedKey {
  prefix: string;
  name: string;
  project: string;
  scopes: Scope[];
  created_ns: bigint;
  expires_ns: bigint | null;
  /** To the minute; `null`: never. */
  last_used_ns: bigint | null;
  revoked_ns: bigint | null;
}

/** A project in the list of projects. */
export interface ListedProject extends Quotas {
  name: string;
  created_ns: bigint;
  /** URL of its database, without a token. */
  database: string;
  /** Number of valid keys. */
  keys: number;
  /** Number of instances; `null`: its database cannot be read. */
  instances: number | null;
}

/** A project to create. */
export interface CreateProjectOptions {
  name: string;
  /** URL of its database; absent: the default of the service. */
  database_url?: string | null;
  now_ns: bigint;
}

/** A key to create. */
export interface CreateKeyOptions {
  /** Name of its project, which is created if it does not exist. */
  project: string;
  name: string;
  now_ns: bigint;
  /** Absent: both. */
  scopes?: readonly Scope[];
  /** `null` and absent: it does not expire. */
  expires_ns?: bigint | null;
  /** URL of a new project's database; `null` and absent: the database of the keys. */
  database_url?: string | null;
}

/** A key to replace. */
export interface RotateKeyOptions {
  prefix: string;
  /** How long the old key stays valid. */
  overlap_ns: bigint;
  now_ns: bigint;
}

/** Creates a project and its database; `false` if there is a project of the name. */
export async function createProject(
  databases: Databases,
  { name, database_url = databases.defaultLocation, now_ns }: CreateProjectOptions,
): Promise<boolean> {
  // A database that cannot be opened is an error before anything is stored.
  const is_made = database_url !== SIBLING_FILE;
  if (is_made) (await databases.lease({ id: 0n, database_url }))[Symbol.dispose]();
  const [created] = await databases.control.write([
    statement(INSERT_PROJECT, { project: name, now_ns, database_url, is_made }),
  ]);
  if (created!.rowsAffected === 0) return false;
  using _lease = await databases.lease(await findProject(databases.control, name));
  return true;
}

/**
 * The project with a name.
 *
 * @throws {Refusal} 404 if there is none.
 */
export async function findProject(db: Database, name: string): Promise<DatabaseLocation> {
  const { rows: [row] } = await db.query({
    sql: "SELECT id, database_url FROM projects WHERE name = ?",
    args: [name],
  });
  if (!row) {
    throw refuse(404, `Cannot find the project: none is named ${JSON.stringify(name)}`, [
      { parameter: "name", message: "is not known" },
    ]);
  }
  return row as unknown as DatabaseLocation;
}

/** The id of a project for its clients, from its row: it never changes, and tells nothing about it. */
export function publicId(id: bigint, created_ns: bigint): string {
  return createHash("sha256").update(`project ${id} ${created_ns}`).digest("hex").slice(0, 32);
}

/** Databases of projects other than the database of keys, each once. */
export async function listDatabases(db: Database): Promise<DatabaseLocation[]> {
  const { rows } = await db.query(
    `SELECT min(id) AS id, database_url FROM projects WHERE database_url IS NOT NULL
      GROUP BY coalesce(nullif(database_url, 'beside'), id) ORDER BY id`,
  );
  return rows as unknown as DatabaseLocation[];
}

/** Row ids of the projects with valid keys whose files were made and are gone. */
export async function listGone(databases: Databases, now_ns: bigint): Promise<bigint[]> {
  const { rows } = await databases.control.query(statement(LIST_MADE_FILES, { now_ns }));
  const made = rows as unknown as DatabaseLocation[];
  return made.filter((location) => fileIdentity(databases.urlOf(location)) === null)
    .map(({ id }) => id);
}

const COUNT_VALID_KEYS = `(SELECT count(*) FROM keys WHERE project = p.id AND revoked_ns IS NULL
  AND (expires_ns IS NULL OR expires_ns > :now_ns))`;

const LIST_MADE_FILES = `SELECT id, database_url FROM projects p
  WHERE is_made AND (database_url = '${SIBLING_FILE}' OR database_url LIKE 'file:%')
    AND ${COUNT_VALID_KEYS} > 0 ORDER BY id`;

/** Creates a key and returns it; only its hash is stored. */
export async function createKey(db: Database, options: CreateKeyOptions): Promise<string> {
  const { key, ...stored } = makeKey();
  const { scopes = SCOPES, expires_ns = null, database_url = null, ...rest } = options;
  const args = { ...rest, ...stored, scope: scopes.join(), expires_ns, database_url, is_made: 0 };
  await db.write([
    statement(INSERT_PROJECT, args),
    statement(
      `INSERT INTO keys (project, name, prefix, hash, created_ns, scope, expires_ns)
        SELECT id, :name, :prefix, :hash, :now_ns, :scope, :expires_ns
        FROM projects WHERE name = :project`,
      args,
    ),
  ]);
  return key;
}

const INSERT_PROJECT = `INSERT INTO projects (name, created_ns, database_url, is_made)
  VALUES (:project, :now_ns, :database_url, :is_made) ON CONFLICT DO NOTHING`;

/** Creates a key like another, which expires after the overlap; `null` if that one is not valid. */
export async function rotateKey(db: Database, options: RotateKeyOptions): Promise<string | null> {
  const { key, prefix: new_prefix, hash } = makeKey();
  const { prefix, now_ns, overlap_ns } = options;
  const args = { prefix, new_prefix, hash, now_ns, until_ns: now_ns + overlap_ns };
  const [inserted] = await db.write([
    statement(
      `INSERT INTO keys (project, name, prefix, hash, created_ns, scope)
        SELECT project, name, :new_prefix, :hash, :now_ns, scope FROM keys
        WHERE prefix = :prefix AND revoked_ns IS NULL
          AND (expires_ns IS NULL OR expires_ns > :now_ns)`,
      args,
    ),
    statement(
      `UPDATE keys SET expires_ns = min(coalesce(expires_ns, :until_ns), :until_ns)
        WHERE prefix = :prefix AND changes() > 0`,
      args,
    ),
  ]);
  return inserted!.rowsAffected > 0 ? key : null;
}

/** All keys, the oldest first. */
export async function listKeys(db: Database): Promise<ListedKey[]> {
  const { rows } = await db.query(
    `SELECT k.prefix, k.name, p.name AS project, k.scope, k.created_ns, k.expires_ns,
        k.last_used_ns, k.revoked_ns
      FROM keys k JOIN projects p ON p.id = k.project ORDER BY k.id`,
  );
  return rows.map((row) => {
    const { scope, ...rest } = row;
    return { ...rest, scopes: (scope as string).split(",") } as unknown as ListedKey;
  });
}

/** All projects, the oldest first. */
export async function listProjects(databases: Databases, now_ns: bigint): Promise<ListedProject[]> {
  const { rows } = await databases.control.query(statement(
    `SELECT id, name, created_ns, database_url, max_instances, max_series, max_body_bytes,
        ${COUNT_VALID_KEYS} AS keys
      FROM projects p ORDER BY id`,
    { now_ns },
  ));
  return await Promise.all(rows.map(async (row) => {
    const location = row as unknown as DatabaseLocation;
    return {
      name: row.name as string,
      created_ns: row.created_ns as bigint,
      database: withoutToken(databases.urlOf(location)),
      keys: Number(row.keys),
      instances: await countInstances(databases, location),
      ...readQuotas(row),
    };
  }));
}

/** Revokes a key; `false` if there is none with the prefix. */
export async function revokeKey(db: Database, prefix: string, now_ns: bigint): Promise<boolean> {
  const [result] = await db.write([{
    sql: "UPDATE keys SET revoked_ns = coalesce(revoked_ns, ?) WHERE prefix = ?",
    args: [now_ns, prefix],
  }]);
  return result!.rowsAffected > 0;
}

/**
 * Sets the quotas that are given; `null` means the service's default.
 *
 * @throws {Refusal} 404 if there is no such project.
 */
export async function setQuotas(
  db: Database,
  project: string,
  quotas: Partial<Quotas>,
): Promise<void> {
  const { id } = await findProject(db, project);
  const given = Object.entries(quotas);
  if (given.length === 0) return;
  await db.write([{
    sql: `UPDATE projects SET ${given.map(([name]) => `${name} = ?`)} WHERE id = ?`,
    args: [...given.map(([, limit]) => limit), id],
  }]);
}

async function countInstances(
  databases: Databases,
  location: DatabaseLocation,
): Promise<number | null> {
  try {
    using lease = await databases.lease(location);
    const { rows } = await lease.query({
      sql: "SELECT count(*) AS count FROM instances WHERE project = ?",
      args: [location.id],
    });
    return Number(rows[0]!.count);
  } catch {
    return null;
  }
}
