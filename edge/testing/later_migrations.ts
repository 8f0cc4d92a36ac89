/** Migrations of later programs, for tests: one that adds, and one that removes. */

import { type Migration, MIGRATIONS } from "../database/migrations.ts";

/** Version of the schema that this program knows. */
export const NEWEST: number = MIGRATIONS.length;

/** Adds a column that the program of before does not know. */
export const ADDING: Migration = {
  oldest: NEWEST,
  statements: ["ALTER TABLE windows ADD COLUMN note TEXT DEFAULT 'none'"],
};

/** Removes an index: no program of before {@linkcode ADDING} may write without it. */
export const REMOVING: Migration = {
  oldest: NEWEST + 1,
  statements: ["DROP INDEX instances_by_start"],
};

/** All migrations, and these. */
export const LATER: readonly Migration[] = [...MIGRATIONS, ADDING, REMOVING];
