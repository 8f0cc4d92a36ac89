/** The schema of every database: the migrations between its versions. */

/** The step from one version of the schema to the next. */
export interface Migration {
  /** The oldest version whose programs may still write once this one is applied. */
  oldest: number;
  statements: readonly string[];
}

/** Error text of the database for a write to a project that is being moved, or was moved. */
export const WRITES_BLOCKED = "writes to the project are blocked";

/** Triggers that refuse to add or change rows of a project with a write block; rows may be removed. */
function blockTriggers(table: string, project: string): string[] {
  return ["INSERT", "UPDATE"].map((event) =>
    `CREATE TRIGGER ${table}_${event}_blocked BEFORE ${event} ON ${table}
      WHEN EXISTS (SELECT 1 FROM write_blocks
        WHERE project = ${project} AND (until_s IS NULL OR until_s > unixepoch()))
      BEGIN SELECT RAISE(ABORT, '${WRITES_BLOCKED}'); END`
  );
}

/** The largest integer of a row. */
const MAX_INTEGER = "9223372036854775807";

/**
 * One entry per version, each applied in one transaction; never changed after a release. Programs of the
 * version before may go on writing: what they use is removed one version after its successor was added.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    oldest: 1,
    statements: [
      `CREATE TABLE projects (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        created_ns INTEGER NOT NULL,
        database_url TEXT,
        max_instances INTEGER,
        max_series INTEGER,
        max_body_bytes INTEGER,
        move_token TEXT
      ) STRICT`,
      `CREATE TABLE keys (
        id INTEGER PRIMARY KEY,
        project INTEGER NOT NULL REFERENCES projects,
        name TEXT NOT NULL,
        prefix TEXT NOT NULL UNIQUE,
        hash BLOB NOT NULL,
        scope TEXT NOT NULL,
        created_ns INTEGER NOT NULL,
        expires_ns INTEGER,
        last_used_ns INTEGER,
        revoked_ns INTEGER
      ) STRICT`,
      // A project's rows may be in another database than its keys: no row refers across.
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
        rolled_ns INTEGER NOT NULL DEFAULT 0,
        downsampled_ns INTEGER NOT NULL DEFAULT 0,
        downsampled_minutes_ns INTEGER NOT NULL DEFAULT 0,
        given_up_ns INTEGER NOT NULL DEFAULT 0,
        due_ns INTEGER NOT NULL DEFAULT 0,
        UNIQUE (project, instance_id)
      ) STRICT`,
      "CREATE INDEX instances_by_start ON instances (project, start_ns, id)",
      "CREATE INDEX instances_by_due ON instances (due_ns)",
      // Instances and identities that windows have in common, named by the hash of their content.
      `CREATE TABLE blocks (
        id INTEGER PRIMARY KEY,
        instance INTEGER NOT NULL REFERENCES instances,
        hash BLOB NOT NULL,
        received_ns INTEGER NOT NULL,
        body BLOB NOT NULL,
        UNIQUE (hash, instance)
      ) STRICT`,
      "CREATE INDEX blocks_by_instance ON blocks (instance)",
      // Windows as they came, of level 0, and roll-ups: all windows that end in the aligned span of
      // `level` seconds that ends at `end_ns`, merged into one.
      `CREATE TABLE windows (
        id INTEGER PRIMARY KEY,
        instance INTEGER NOT NULL REFERENCES instances,
        level INTEGER NOT NULL,
        end_ns INTEGER NOT NULL,
        from_ns INTEGER NOT NULL,
        to_ns INTEGER NOT NULL,
        block INTEGER NOT NULL,
        digest BLOB NOT NULL,
        body BLOB NOT NULL,
        UNIQUE (instance, level, end_ns)
      ) STRICT`,
      "CREATE INDEX windows_by_age ON windows (end_ns)",
      // Errors and other entries of the window that ends at `to_ns`: a row for each list that has some.
      `CREATE TABLE entries (
        id INTEGER PRIMARY KEY,
        instance INTEGER NOT NULL REFERENCES instances,
        list TEXT NOT NULL,
        to_ns INTEGER NOT NULL,
        entries BLOB NOT NULL,
        count INTEGER NOT NULL,
        UNIQUE (instance, list, to_ns)
      ) STRICT`,
      "CREATE INDEX entries_by_age ON entries (to_ns)",
      // Projects that accept no writes until `until_s`, or never again if it is NULL.
      `CREATE TABLE write_blocks (
        project INTEGER PRIMARY KEY,
        token TEXT NOT NULL,
        until_s INTEGER
      ) STRICT`,
      ...blockTriggers("instances", "NEW.project"),
      ...["blocks", "windows", "entries"].flatMap((table) =>
        blockTriggers(table, "(SELECT project FROM instances WHERE id = NEW.instance)")
      ),
    ],
  },
  {
    oldest: 1,
    statements: [
      "ALTER TABLE projects ADD COLUMN is_made INTEGER NOT NULL DEFAULT 0",
      "ALTER TABLE instances ADD COLUMN ended_ns INTEGER",
      "ALTER TABLE instances ADD COLUMN listed_ns INTEGER NOT NULL DEFAULT 0",
      "ALTER TABLE instances ADD COLUMN late_windows INTEGER NOT NULL DEFAULT 0",
      // Rows of a project with a write block must not change; after a move nobody reads them.
      `UPDATE instances SET listed_ns = min(start_ns, received_ns) WHERE NOT EXISTS (
        SELECT 1 FROM write_blocks b
        WHERE b.project = instances.project AND (b.until_s IS NULL OR b.until_s > unixepoch()))`,
      "DROP INDEX instances_by_start",
      "CREATE INDEX instances_by_start ON instances (project, listed_ns, id)",
      // When they were received is not known of rows that are there: their end counts alone.
      `ALTER TABLE windows ADD COLUMN received_ns INTEGER NOT NULL DEFAULT ${MAX_INTEGER}`,
      "DROP INDEX windows_by_age",
      // By receipt where the clock of an instance is ahead.
      "CREATE INDEX windows_by_age ON windows (min(end_ns, received_ns))",
      `ALTER TABLE entries ADD COLUMN received_ns INTEGER NOT NULL DEFAULT ${MAX_INTEGER}`,
      "DROP INDEX entries_by_age",
      "CREATE INDEX entries_by_age ON entries (min(to_ns, received_ns))",
      // Spans that reads could pass before their windows had come, and what has come of them since.
      `CREATE TABLE passed (
        id INTEGER PRIMARY KEY,
        instance INTEGER NOT NULL REFERENCES instances,
        from_ns INTEGER NOT NULL,
        to_ns INTEGER NOT NULL,
        passed_ns INTEGER NOT NULL,
        late_from_ns INTEGER,
        late_to_ns INTEGER,
        late_ns INTEGER,
        UNIQUE (instance, from_ns)
      ) STRICT`,
      ...blockTriggers("passed", "(SELECT project FROM instances WHERE id = NEW.instance)"),
    ],
  },
];
