import { type Database, statement } from "./database.ts";
import { INSTANCE_COLUMNS, type StoredInstance, storedInstance } from "./instance.ts";
import { isKey, prefixOf } from "./keys.ts";
import { refuse } from "@service/core";

/** Who asks, and for which instance. */
export interface Caller {
  /** Row id of the key. */
  key: bigint;
  /** Row id of the project. */
  project: bigint;
  project_name: string;
  /** The project's instance that the request names. */
  instance: StoredInstance | null;
}

/**
 * Who holds the key of the header `X-API-Key`: one round trip.
 *
 * @throws {Refusal} 401, the same one whatever is wrong with the key.
 */
export async function authenticate(
  db: Database,
  given: string | undefined,
  instance_id?: string,
): Promise<Caller> {
  const prefix = prefixOf(given ?? "");
  const { rows: [row] } = prefix === null ? { rows: [] } : await db.query(
    statement(instance_id === undefined ? KEY : KEY_AND_INSTANCE, { instance_id, prefix }),
  );
  if (!isKey(given ?? "", row ? row.hash as ArrayBuffer : null)) {
    throw refuse(401, "Cannot tell who asks: the header X-API-Key must hold a valid key");
  }
  const project_name = row!.project_name as string;
  return {
    key: row!.key as bigint,
    project: row!.project as bigint,
    project_name,
    instance: row!.id ? storedInstance(row!, project_name) : null,
  };
}

const OF_KEY = "k.id AS key, k.hash, k.project, p.name AS project_name";
const KEY = `SELECT ${OF_KEY} FROM keys k JOIN projects p ON p.id = k.project
  WHERE k.prefix = :prefix AND k.revoked_ns IS NULL`;
const KEY_AND_INSTANCE = `SELECT ${OF_KEY}, ${INSTANCE_COLUMNS} FROM keys k
  JOIN projects p ON p.id = k.project
  LEFT JOIN instances i ON i.project = k.project AND i.instance_id = :instance_id
  LEFT JOIN keys ik ON ik.id = i.key
  WHERE k.prefix = :prefix AND k.revoked_ns IS NULL`;
