import type { Database } from "./database.ts";

/** Brings the database to the newest schema; safe to run again, and by several processes at once. */
export async function migrate(db: Database): Promise<void> {
  await db.write(["CREATE TABLE IF NOT EXISTS schema (version INTEGER PRIMARY KEY) STRICT"]);
  const current = await version(db);
  for (const [i, statements] of MIGRATIONS.entries()) {
    const next = i + 1;
    if (next <= current) continue;
    try {
      await db.write([
        { sql: "INSERT INTO schema (version) VALUES (?)", args: [next] },
        ...statements,
      ]);
    } catch (error) {
      // Another process was faster.
      if (await version(db) < next) throw error;
    }
  }
}

async function version(db: Database): Promise<number> {
  const { rows } = await db.query("SELECT max(version) AS version FROM schema");
  return Number(rows[0]!.version ?? 0);
}

/** One entry per version, each applied whole; never changed once released. */
export const MIGRATIONS: string[][] = [
  [
    `CREATE TABLE projects (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      created_ns INTEGER NOT NULL
    ) STRICT`,
    `CREATE TABLE keys (
      id INTEGER PRIMARY KEY,
      project INTEGER NOT NULL REFERENCES projects,
      name TEXT NOT NULL,
      prefix TEXT NOT NULL UNIQUE,
      hash BLOB NOT NULL,
      created_ns INTEGER NOT NULL,
      revoked_ns INTEGER
    ) STRICT`,
    `CREATE TABLE instances (
      id INTEGER PRIMARY KEY,
      project INTEGER NOT NULL REFERENCES projects,
      instance_id TEXT NOT NULL,
      key INTEGER NOT NULL REFERENCES keys,
      tags TEXT NOT NULL,
      attributes TEXT NOT NULL,
      profiler_version TEXT NOT NULL,
      start_ns INTEGER NOT NULL,
      watermark_ns INTEGER NOT NULL,
      final_ns INTEGER,
      last_seen_ns INTEGER NOT NULL,
      received_ns INTEGER NOT NULL,
      UNIQUE (project, instance_id)
    ) STRICT`,
    `CREATE TABLE windows (
      id INTEGER PRIMARY KEY,
      instance INTEGER NOT NULL REFERENCES instances,
      from_ns INTEGER NOT NULL,
      to_ns INTEGER NOT NULL,
      digest BLOB NOT NULL,
      body BLOB NOT NULL,
      errors TEXT,
      error_count INTEGER NOT NULL,
      UNIQUE (instance, to_ns),
      UNIQUE (instance, from_ns)
    ) STRICT`,
    "CREATE INDEX windows_by_age ON windows (to_ns)",
    `CREATE INDEX windows_with_errors ON windows (instance, to_ns, error_count)
      WHERE error_count > 0`,
  ],
  // A project's rows may lie in another database than its keys: no row refers across.
  [
    "ALTER TABLE projects ADD COLUMN database_url TEXT",
    "ALTER TABLE projects ADD COLUMN max_instances INTEGER",
    "ALTER TABLE projects ADD COLUMN max_series INTEGER",
    "ALTER TABLE projects ADD COLUMN max_body_bytes INTEGER",
    "ALTER TABLE keys ADD COLUMN scope TEXT NOT NULL DEFAULT 'read,write'",
    "ALTER TABLE keys ADD COLUMN expires_ns INTEGER",
    "ALTER TABLE keys ADD COLUMN last_used_ns INTEGER",
    // What refers to instances is checked once they are back.
    "PRAGMA defer_foreign_keys = ON",
    "CREATE TABLE instances_before AS SELECT * FROM instances",
    "DROP TABLE instances",
    `CREATE TABLE instances (
      id INTEGER PRIMARY KEY,
      project INTEGER NOT NULL,
      instance_id TEXT NOT NULL,
      key TEXT NOT NULL,
      tags TEXT NOT NULL,
      attributes TEXT NOT NULL,
      profiler_version TEXT NOT NULL,
      start_ns INTEGER NOT NULL,
      watermark_ns INTEGER NOT NULL,
      final_ns INTEGER,
      last_seen_ns INTEGER NOT NULL,
      received_ns INTEGER NOT NULL,
      UNIQUE (project, instance_id)
    ) STRICT`,
    `INSERT INTO instances SELECT id, project, instance_id,
        (SELECT name FROM keys WHERE keys.id = key), tags, attributes, profiler_version,
        start_ns, watermark_ns, final_ns, last_seen_ns, received_ns
      FROM instances_before`,
    "DROP TABLE instances_before",
    "CREATE INDEX instances_by_start ON instances (project, start_ns, id)",
    // Rows that change while a project moves, in order; and which move that is.
    `CREATE TABLE changes (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      project INTEGER NOT NULL,
      name TEXT NOT NULL,
      key TEXT NOT NULL
    ) STRICT`,
    "CREATE TABLE moves (project INTEGER PRIMARY KEY, token TEXT NOT NULL) STRICT",
  ],
  [
    // What the windows of an instance have in common, named by its content.
    `CREATE TABLE layouts (
      id INTEGER PRIMARY KEY,
      instance INTEGER NOT NULL REFERENCES instances,
      hash BLOB NOT NULL,
      received_ns INTEGER NOT NULL,
      body BLOB NOT NULL,
      UNIQUE (instance, hash)
    ) STRICT`,
    // Windows as they came, of level 0, and roll-ups: all windows that end in the aligned span of
    // so many seconds that ends at end_ns, merged into one.
    `CREATE TABLE pieces (
      id INTEGER PRIMARY KEY,
      instance INTEGER NOT NULL REFERENCES instances,
      level INTEGER NOT NULL,
      end_ns INTEGER NOT NULL,
      from_ns INTEGER NOT NULL,
      to_ns INTEGER NOT NULL,
      layout INTEGER,
      digest BLOB,
      holes TEXT,
      body BLOB NOT NULL,
      UNIQUE (instance, level, end_ns)
    ) STRICT`,
    `CREATE TABLE errors (
      id INTEGER PRIMARY KEY,
      instance INTEGER NOT NULL REFERENCES instances,
      to_ns INTEGER NOT NULL,
      entries TEXT NOT NULL,
      count INTEGER NOT NULL,
      UNIQUE (instance, to_ns)
    ) STRICT`,
    `INSERT INTO pieces (id, instance, level, end_ns, from_ns, to_ns, digest, body)
      SELECT id, instance, 0, to_ns, from_ns, to_ns, substr(digest, 1, 16), body FROM windows`,
    `INSERT INTO errors (instance, to_ns, entries, count)
      SELECT instance, to_ns, errors, error_count FROM windows WHERE error_count > 0`,
    "DROP TABLE windows",
    "ALTER TABLE pieces RENAME TO windows",
    "CREATE INDEX windows_by_age ON windows (end_ns)",
    "CREATE INDEX errors_by_age ON errors (to_ns)",
    "ALTER TABLE instances ADD COLUMN rolled_ns INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE instances ADD COLUMN condensed_ns INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE instances ADD COLUMN condensed_minutes_ns INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE instances ADD COLUMN given_up_ns INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE instances ADD COLUMN due_ns INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX instances_by_due ON instances (due_ns)",
  ],
];
