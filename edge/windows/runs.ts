/** Runs of pieces, merged, in memory: a read that was done before, or goes on, merges few windows. */

import { Buffer } from "node:buffer";
import type { Window } from "@service/core";
import { Lru } from "@service/core/lru";
import type { Row } from "../database/database.ts";
import { Merge, type MergeOptions } from "./merge.ts";

/** Series and frames of all merges together: some 50 MB. */
const MAX_WEIGHT = 200_000;

/** Rows, and the merge of their windows. */
interface Run {
  rows: Row[];
  merge: Merge;
}

/** The merges that a process has made last, with the bytes of their rows: others are never taken for them. */
export class Runs {
  readonly #runs = new Lru<string, Run>({
    max: MAX_WEIGHT,
    weigh: ({ merge: { window } }) => window ? weightOf(window) : 1,
  });

  /** The merge of rows, at least one, which is not to be changed; and how many were not in memory. */
  merge(rows: readonly Row[], options: MergeOptions): { merge: Merge; added: number } {
    const key = `${rows[0]!.id} ${rows[0]!.to_ns}`;
    const found = this.#runs.get(key);
    const run = found?.rows.every((row, i) => isSame(row, rows[i]))
      ? found
      : { rows: [], merge: new Merge() };
    const added = rows.slice(run.rows.length);
    for (const row of added) {
      run.merge.add(row, options);
      run.rows.push(row);
    }
    if (run.merge.damaged.length > 0) this.#runs.delete(key);
    else if (added.length > 0) this.#runs.set(key, run);
    return { merge: run.merge, added: added.length };
  }
}

function isSame(a: Row, b: Row | undefined): boolean {
  return b !== undefined && a.from_ns === b.from_ns && a.to_ns === b.to_ns &&
    bytesOf(a).equals(bytesOf(b));
}

function bytesOf({ body }: Row): Buffer {
  return Buffer.from(body as ArrayBuffer);
}

/** The number of series and frames of a window. */
function weightOf({ series: all }: Window): number {
  let weight = all.size;
  for (const series of all.values()) {
    if (series.type === "profile") weight += series.frames.size;
  }
  return weight;
}
