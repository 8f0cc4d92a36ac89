/** The pieces that a read or a roll-up merges: the queries for them, and their merge. */

import { yieldToEventLoop } from "@service/core/yield";
import { type Database, type Row, statement } from "../database/database.ts";
import { digestText } from "./digest.ts";
import { hashOf, Merge, type MergeOptions } from "./merge.ts";
import { TILING } from "./tiling.ts";

/** The pieces of a tiling in order, each with the hash of its block. */
export const PIECES: string = `/* read the pieces */ ${selecting("w.body, ")}`;

/** The same without their bodies. */
export const PIECES_WITHOUT_BODIES: string = `/* find the pieces */ ${selecting("")}`;

function selecting(body: string): string {
  return `${TILING}
  SELECT w.id, w.level, w.from_ns, w.to_ns, w.digest, ${body}w.block, b.hash
  FROM tile JOIN windows w ON w.id = tile.id LEFT JOIN blocks b ON b.id = w.block
  ORDER BY w.end_ns LIMIT :limit`;
}

/** Adds the bodies of pieces; none to one that was removed meanwhile. */
export async function addBodies(db: Database, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = `[${rows.map(({ id }) => id).join()}]`;
  const { rows: found } = await db.query(statement(BODIES, { ids }));
  const bodies = new Map(found.map(({ digest, body }) => [digestText(digest), body]));
  for (const row of rows) {
    const body = bodies.get(digestText(row.digest));
    if (body !== undefined) row.body = body;
  }
}

/** By digest: the id of a row that was removed may be that of another one. */
const BODIES = `/* read the bodies */ SELECT digest, body FROM windows
  WHERE id IN (SELECT value FROM json_each(:ids))`;

/** A text that identifies the pieces of a tiling. */
export const PIECES_NAMED = `${TILING}
  SELECT group_concat(name) FROM (
    SELECT level || ':' || id AS name FROM tile WHERE id IS NOT NULL ORDER BY at_ns
  )`;

/** That text of pieces. */
export function namesOf(rows: readonly Row[]): string {
  return rows.map(({ level, id }) => `${level}:${id}`).join();
}

/** Pieces that are merged before other work may run. */
const PIECES_AT_ONCE = 16;

/** The row ids of the blocks of pieces by their hashes. */
export function blockRows(rows: readonly Row[]): Map<string, bigint> {
  return new Map(rows.flatMap((row) => {
    const hash = hashOf(row);
    return hash === undefined ? [] : [[hash, row.block as bigint]];
  }));
}

/** The merge of pieces, which are rows of {@linkcode PIECES}. */
export async function mergePieces(rows: readonly Row[], options: MergeOptions): Promise<Merge> {
  const merge = new Merge();
  for (const [i, row] of rows.entries()) {
    if (i > 0 && i % PIECES_AT_ONCE === 0) await yieldToEventLoop();
    merge.add(row, options);
  }
  return merge;
}
