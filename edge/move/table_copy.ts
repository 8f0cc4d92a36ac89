/** Copy of a project's rows from one database to another, for all tables. */

import { type Database, type Statement, statement, type Value } from "../database/database.ts";
import { ofProject, type Table } from "../database/tables.ts";

/** A project, and the databases of its copy. */
export interface Copy {
  from: Database;
  to: Database;
  tables: Table[];
  /** Row id of the project. */
  project: bigint;
  /** Called after each page. */
  onPage: () => Promise<void>;
}

/** Rows in one read and one write. */
const PAGE_ROWS = 64;

/** Removes the project's rows in the target. */
export async function clear({ to, tables, project, onPage }: Copy): Promise<void> {
  for (const table of tables.toReversed()) {
    const sql = `DELETE FROM ${table.name} WHERE id IN
      (SELECT id FROM ${table.name} WHERE ${ofProject(table)} LIMIT ${PAGE_ROWS})`;
    while ((await to.write([statement(sql, { project })]))[0]!.rowsAffected > 0) await onPage();
  }
}

/** Copies all rows, page by page. */
export async function copyAll({ from, to, tables, project, onPage }: Copy): Promise<void> {
  for (const table of tables) {
    const { name, columns } = table;
    const page = `SELECT * FROM ${name} WHERE ${ofProject(table)} AND id > :last
      ORDER BY id LIMIT ${PAGE_ROWS}`;
    const insert = `INSERT INTO ${name} (${columns}) VALUES (${columns.map(() => "?")})`;
    for (let last = 0n;; await onPage()) {
      const { rows } = await from.query(statement(page, { project, last }));
      if (rows.length === 0) break;
      last = rows.at(-1)!.id as bigint;
      await to.write(rows.map((row): Statement => ({
        sql: insert,
        args: columns.map((column) => row[column] as Value),
      })));
    }
  }
}

/**
 * Compares the numbers of rows of both sides.
 *
 * @throws {Error} If they differ.
 */
export async function verify({ from, to, tables, project }: Copy): Promise<void> {
  const counts = tables.map((table) =>
    statement(`SELECT count(*) AS rows FROM ${table.name} WHERE ${ofProject(table)}`, { project })
  );
  const [here, there] = await Promise.all([from.read(counts), to.read(counts)]);
  for (const [i, { name }] of tables.entries()) {
    const [a, b] = [here[i]!.rows[0]!.rows, there[i]!.rows[0]!.rows];
    if (a !== b) throw new Error(`Cannot verify the copy: ${name} has ${b} rows of ${a}`);
  }
}
