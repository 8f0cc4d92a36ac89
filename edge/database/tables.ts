/** The tables of a project's database, as the database itself lists them. */

import type { Database } from "./database.ts";

/** A table with rows of projects; its key is `id`. */
export interface Table {
  name: string;
  columns: string[];
}

/** Tables of the database itself, and of projects and keys: never moved. */
const STAY = ["schema", "projects", "keys", "write_blocks"];

/** All tables with rows of projects, those first that others refer to. */
export async function tablesOf(db: Database): Promise<Table[]> {
  const { rows } = await db.query(
    `SELECT m.name, c.name AS column FROM sqlite_schema m JOIN pragma_table_info(m.name) c
      WHERE m.type = 'table' ORDER BY m.name <> 'instances', m.rowid, c.cid`,
  );
  const tables = new Map<string, Table>();
  for (const row of rows) {
    const name = row.name as string;
    if (STAY.includes(name) || /^(sqlite|libsql|_)/.test(name)) continue;
    const table = tables.get(name) ?? { name, columns: [] };
    table.columns.push(row.column as string);
    tables.set(name, table);
  }
  return [...tables.values()];
}

/** The condition that a row of the table is of the project `:project`. */
export function ofProject({ name }: Table): string {
  return name === "instances"
    ? "project = :project"
    : "instance IN (SELECT id FROM instances WHERE project = :project)";
}
