/** What a database does with writes to a project that moves away: in the database, so that every process obeys at once. */

import { LibsqlError } from "@libsql/client/web";
import type { Database } from "./database.ts";
import type { Table } from "./tables.ts";

const REASON = "the project is being moved";

/** Whether a write was refused because its project moves, or has moved away. */
export function isFenced(error: unknown): boolean {
  return error instanceof LibsqlError && error.message.includes(REASON);
}

/** Notes in `changes` which rows of the project change from now on. */
export async function record(db: Database, tables: Table[], project: bigint): Promise<void> {
  await db.write(tables.flatMap((table) =>
    EVENTS.flatMap((event) => {
      const name = `moving_${project}_${table.name}_${event}`;
      const versions = event === "DELETE" ? ["OLD"] : event === "INSERT" ? ["NEW"] : ["OLD", "NEW"];
      return [
        `DROP TRIGGER IF EXISTS ${name}`,
        `CREATE TRIGGER ${name} AFTER ${event} ON ${table.name}
          WHEN ${versions.map((row) => isOf(table, row, project)).join(" OR ")} BEGIN
          ${
          versions.map((row) =>
            `INSERT INTO changes (project, name, key) VALUES (${project}, '${table.name}',
              json_array(${table.key.map((column) => `${row}.${column}`)}));`
          ).join("\n")
        } END`,
      ];
    })
  ));
}

/** Refuses what would add to the project's rows or change them from now on; old ones may still be removed. */
export async function raise(db: Database, tables: Table[], project: bigint): Promise<void> {
  await db.write(
    tables.filter(isOwned).flatMap((table) =>
      EVENTS.filter((event) => event !== "DELETE").flatMap((event) => {
        const name = `fence_${project}_${table.name}_${event}`;
        return [
          `DROP TRIGGER IF EXISTS ${name}`,
          `CREATE TRIGGER ${name} BEFORE ${event} ON ${table.name}
          WHEN ${isOf(table, event === "INSERT" ? "NEW" : "OLD", project)}
          BEGIN SELECT RAISE(ABORT, '${REASON}'); END`,
        ];
      })
    ),
  );
}

/** The condition that writes to the project of a row of `instances` are refused. */
export const IS_FENCED = `EXISTS (SELECT 1 FROM sqlite_schema
  WHERE type = 'trigger' AND name GLOB 'fence_' || instances.project || '_*')`;

/** Ends what {@linkcode record} began. */
export function stopRecording(db: Database, project: bigint): Promise<void> {
  return drop(db, project, `moving_${project}_*`);
}

/** Ends what {@linkcode record} and {@linkcode raise} began. */
export function lower(db: Database, project: bigint): Promise<void> {
  return drop(db, project, `fence_${project}_*`, `moving_${project}_*`);
}

async function drop(db: Database, project: bigint, ...names: string[]): Promise<void> {
  const { rows } = await db.query({
    sql: `SELECT name FROM sqlite_schema
      WHERE type = 'trigger' AND (${names.map(() => "name GLOB ?").join(" OR ")})`,
    args: names,
  });
  await db.write([
    ...rows.map(({ name }) => `DROP TRIGGER IF EXISTS ${name}`),
    { sql: "DELETE FROM changes WHERE project = ?", args: [project] },
  ]);
}

const EVENTS = ["INSERT", "UPDATE", "DELETE"];

function isOwned({ owner }: Table): boolean {
  return owner !== null;
}

/** Whether a row is the project's; rows of nobody count, as they may be shared. */
function isOf({ owner }: Table, row: string, project: bigint): string {
  if (owner === null) return "TRUE";
  return owner === "project"
    ? `${row}.project = ${project}`
    : `(SELECT project FROM instances WHERE id = ${row}.instance) = ${project}`;
}
