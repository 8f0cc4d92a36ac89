import type { Database } from "./database.ts";

/** A table of a project's database. */
export interface Table {
  name: string;
  columns: string[];
  /** Columns of the primary key. */
  key: string[];
  /** The column that says whose a row is; `null`: the rows are shared. */
  owner: "project" | "instance" | null;
}

/** Tables of the database itself, and of projects and keys: never moved. */
const STAY = ["schema", "projects", "keys", "changes", "moves"];

/** All tables with rows of projects, those first that others refer to. */
export async function tablesOf(db: Database): Promise<Table[]> {
  const { rows } = await db.query(
    `SELECT m.name, c.name AS column, c.pk FROM sqlite_schema m JOIN pragma_table_info(m.name) c
      WHERE m.type = 'table' ORDER BY m.rowid, c.cid`,
  );
  const tables = new Map<string, Table & { order: bigint[] }>();
  for (const row of rows) {
    const name = row.name as string;
    if (STAY.includes(name) || /^(sqlite|libsql|_)/.test(name)) continue;
    let table = tables.get(name);
    if (!table) tables.set(name, table = { name, columns: [], key: [], owner: null, order: [] });
    const column = row.column as string;
    table.columns.push(column);
    if (row.pk) table.key[Number(row.pk) - 1] = column;
    if (name === "instances" ? column === "project" : column === "instance") {
      table.owner = column as "project" | "instance";
    }
  }
  const rank = ({ owner }: Table) => [null, "project", "instance"].indexOf(owner);
  return [...tables.values()].sort((a, b) => rank(a) - rank(b));
}

/** The condition that a row of the table is of the project `:project`. */
export function ofProject({ owner }: Table): string {
  if (owner === null) return "TRUE";
  if (owner === "project") return "project = :project";
  return "instance IN (SELECT id FROM instances WHERE project = :project)";
}
