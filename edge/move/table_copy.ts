/** Rows of a project from one database to another, whatever the tables. */

import {
  type Database,
  type Row,
  type Statement,
  statement,
  type Value,
} from "../database/database.ts";
import { ofProject, type Table } from "../database/tables.ts";

/** Whose rows are copied, and where to. */
export interface Copy {
  from: Database;
  to: Database;
  tables: Table[];
  /** Row id of the project. */
  project: bigint;
}

/** Rows in one read and one write. */
const PAGE_ROWS = 64;
/** Changed rows that are copied together. */
const CHANGES = 256;

/** Removes what the target holds of the project. */
export async function clear({ to, tables, project }: Copy): Promise<void> {
  for (const table of tables.toReversed()) {
    const key = table.key.join(", ");
    const sql = `DELETE FROM ${table.name} WHERE (${key}) IN
      (SELECT ${key} FROM ${table.name} WHERE ${ofProject(table)} LIMIT ${PAGE_ROWS})`;
    while ((await to.write([statement(sql, { project })]))[0]!.rowsAffected > 0);
  }
}

/** Copies all rows, page by page. */
export async function copyAll(copy: Copy): Promise<void> {
  for (const table of copy.tables) {
    let last: string | undefined;
    for (;;) {
      const { rows } = await copy.from.query(page(copy, table, last));
      if (rows.length === 0) break;
      const keys = rows.map((row) => keyOf(table, row));
      last = keys.at(-1)!;
      await copyRows(copy, new Map([[table.name, keys]]));
    }
  }
}

/** Copies what changed after the change `seq`; gives the last one, and how many there were. */
export async function copyChanges(
  copy: Copy,
  seq: bigint,
): Promise<{ seq: bigint; count: number }> {
  const { rows } = await copy.from.query({
    sql: `SELECT seq, name, key FROM changes WHERE project = ? AND seq > ? ORDER BY seq LIMIT ?`,
    args: [copy.project, seq, CHANGES],
  });
  if (rows.length === 0) return { seq, count: 0 };
  const keys = new Map<string, string[]>();
  for (const { name, key } of rows) {
    keys.set(name as string, [...(keys.get(name as string) ?? []), key as string]);
  }
  await copyRows(copy, keys);
  return { seq: rows.at(-1)!.seq as bigint, count: rows.length };
}

/**
 * Compares numbers, lengths and sums of both sides' rows.
 *
 * @throws {Error} If they differ.
 */
export async function verify({ from, to, tables, project }: Copy): Promise<void> {
  const owned = tables.filter(({ owner }) => owner !== null);
  const sums = owned.map((table) => statement(sumOf(table), { project }));
  const [here, there] = await Promise.all([from.read(sums), to.read(sums)]);
  for (const [i, { name }] of owned.entries()) {
    const [a, b] = [here[i]!, there[i]!].map(({ rows }) => Object.values(rows[0]!).join());
    if (a !== b) throw new Error(`Cannot verify the copy: ${name} differs: ${a} here, ${b} there`);
  }
}

/** Makes rows of the target what they are in the source, with the instances that they belong to. */
async function copyRows({ from, to, tables, project }: Copy, keys: Map<string, string[]>) {
  const named = tables.filter(({ name }) => keys.has(name));
  const reads = named.map((table) => byKeys(table, keys.get(table.name)!));
  const owners = named.filter(({ owner }) => owner === "instance").map((table) =>
    ownersOf(table, keys.get(table.name)!)
  );
  const results = await from.read([...reads, ...owners]);
  const instances = tables.find(({ name }) => name === "instances")!;
  const writes: Statement[] = ["PRAGMA defer_foreign_keys = ON"];
  for (const { rows } of results.slice(named.length)) writes.push(...puts(instances, rows));
  for (const [i, table] of named.entries()) {
    const present = results[i]!.rows.filter((row) =>
      table.owner !== "project" || row.project === project
    );
    const there = new Set(present.map((row) => keyOf(table, row)));
    const gone = keys.get(table.name)!.filter((key) => !there.has(key));
    if (gone.length > 0) writes.splice(1, 0, byKeys(table, gone, "DELETE"));
    writes.push(...puts(table, present));
  }
  await to.write(writes);
  const copied = await to.read(reads);
  for (const [i, { name }] of named.entries()) {
    if (textOf(copied[i]!.rows) !== textOf(results[i]!.rows)) {
      throw new Error(`Cannot verify the copy: rows of ${name} differ once written`);
    }
  }
}

function page({ project }: Copy, table: Table, last: string | undefined): Statement {
  const key = table.key.join(", ");
  const after = last === undefined ? "TRUE" : `(${key}) > (${parts(table, ":last")})`;
  return statement(
    `SELECT ${key} FROM ${table.name} WHERE ${ofProject(table)} AND ${after}
      ORDER BY ${key} LIMIT ${PAGE_ROWS}`,
    { project, last },
  );
}

function byKeys(table: Table, keys: string[], verb = "SELECT *"): Statement {
  return {
    sql: `${verb} FROM ${table.name} WHERE (${table.key.join(", ")}) IN
      (SELECT ${parts(table, "value")} FROM json_each(?))${
      verb === "DELETE" ? "" : orderBy(table)
    }`,
    args: [`[${keys}]`],
  };
}

function ownersOf(table: Table, keys: string[]): Statement {
  return {
    sql: `SELECT * FROM instances WHERE id IN (SELECT instance FROM ${table.name}
      WHERE (${table.key.join(", ")}) IN (SELECT ${parts(table, "value")} FROM json_each(?)))`,
    args: [`[${keys}]`],
  };
}

function puts({ name, columns }: Table, rows: Row[]): Statement[] {
  const sql = `INSERT OR REPLACE INTO ${name} (${columns.join(", ")})
    VALUES (${columns.map(() => "?").join(", ")})`;
  return rows.map((row) => ({ sql, args: columns.map((column) => row[column] as Value) }));
}

function orderBy({ key }: Table): string {
  return ` ORDER BY ${key.join(", ")}`;
}

/** The parts of a key that is a JSON array. */
function parts({ key }: Table, array: string): string {
  return key.map((_, i) => `json_extract(${array}, '$[${i}]')`).join(", ");
}

/** The key of a row, as `json_array` writes it. */
function keyOf({ key }: Table, row: Row): string {
  const texts = key.map((column) => {
    const part = row[column];
    return typeof part === "bigint" ? String(part) : JSON.stringify(part);
  });
  return `[${texts}]`;
}

function textOf(rows: Row[]): string {
  return rows.map((row) =>
    Object.values(row).map((value) =>
      value instanceof ArrayBuffer ? new Uint8Array(value).toBase64() : String(value)
    ).join("\0")
  ).join("\n");
}

function sumOf(table: Table): string {
  const sums = table.columns.map((column) =>
    `sum(CASE typeof(${column}) WHEN 'integer' THEN ${column} % 1000003
      WHEN 'real' THEN ${column} WHEN 'null' THEN 0 ELSE length(${column}) END) AS ${column}_sum`
  );
  return `SELECT count(*) AS count, ${sums} FROM ${table.name} WHERE ${ofProject(table)}`;
}
