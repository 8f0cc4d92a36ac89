/** The schema of a database: brought to the newest version, and checked while it is used. */

import type { Database, Guard } from "./database.ts";
import { type Migration, MIGRATIONS } from "./migrations.ts";

/** This program must not use the database: its schema is too old or too new. */
export class SchemaError extends RangeError {
  /** Name of the class. */
  override readonly name = "SchemaError";
}

/**
 * Brings the database to the newest schema that this program knows, unless it is newer and allows this
 * program to write; safe to run again, and by several processes at once.
 *
 * @throws {SchemaError} If the database must not be used; it is unchanged then.
 */
export async function migrate(
  db: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const columns = await columnsOfSchema(db);
  if (columns.length === 0) await db.write([CREATE]);
  else if (!columns.includes("oldest")) throw new SchemaError(UNSUPPORTED);

  const { version } = await expectAllowed(db, migrations.length);
  for (const [i, { oldest, statements }] of migrations.entries()) {
    const next = i + 1;
    if (next <= version) continue;
    try {
      await db.write([{ sql: INSERT, args: [next, oldest] }, ...statements]);
    } catch (error) {
      // Another process has migrated it.
      if ((await expectAllowed(db, migrations.length)).version < next) throw error;
    }
  }
}

/** Whether the database has a schema: it is not new. */
export async function hasSchema(db: Database): Promise<boolean> {
  return (await columnsOfSchema(db)).length > 0;
}

/** Lets every write check in its transaction that programs that know versions up to `known` are allowed. */
export function guardOf(known: number): Guard {
  return {
    statement: { sql: EXPECT_ALLOWED, args: [known] },
    reason: async (query) => refusal(await readSchema(query), known),
  };
}

/** A version of the schema, and the oldest version whose programs may write to it. */
interface Schema {
  version: number;
  oldest: number;
}

async function columnsOfSchema(db: Database): Promise<unknown[]> {
  const { rows } = await db.query("SELECT name FROM pragma_table_info('schema')");
  return rows.map(({ name }) => name);
}

async function expectAllowed(db: Database, known: number): Promise<Schema> {
  const schema = await readSchema((statement) => db.query(statement));
  const refused = refusal(schema, known);
  if (refused) throw refused;
  return schema;
}

async function readSchema(query: Database["query"]): Promise<Schema> {
  const { rows: [row] } = await query(
    "SELECT max(version) AS version, max(oldest) AS oldest FROM schema",
  );
  return { version: Number(row!.version), oldest: Number(row!.oldest) };
}

function refusal({ version, oldest }: Schema, known: number): SchemaError | null {
  if (oldest <= known) return null;
  return new SchemaError(
    `Cannot use the database: its schema has version ${version} and is for programs that know ` +
      `version ${oldest} or newer, this one knows version ${known}; start a newer program`,
  );
}

const CREATE = `CREATE TABLE IF NOT EXISTS schema (
  version INTEGER PRIMARY KEY,
  oldest INTEGER NOT NULL
) STRICT`;

const INSERT = "INSERT INTO schema (version, oldest) VALUES (?, ?)";

/** Inserts nothing, or fails: the version is there already. */
const EXPECT_ALLOWED =
  "INSERT INTO schema (version, oldest) SELECT version, oldest FROM schema WHERE oldest > ?";

const UNSUPPORTED =
  "Cannot use the database: a program whose databases are not supported made it; " +
  "nothing was changed in it, start with a new database";
