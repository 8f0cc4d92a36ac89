/** Runs of pieces, merged, in memory: a read that was done before, or goes on, merges few windows. */

import type { Window } from "@service/core";
import { Lru } from "@service/core/lru";
import { yieldToEventLoop } from "@service/core/yield";
import type { Row } from "../database/database.ts";
import { digestText } from "./digest.ts";
import { Merge, type MergeOptions } from "./merge.ts";

/** Series and frames of all merges together: some 50 MB. */
const MAX_WEIGHT = 200_000;

/** Pieces of a run, which are merged before other work may run. */
const MAX_PIECES = 16;

/** Names of pieces, and the merge of their windows. */
interface Run {
  names: string[];
  merge: Merge;
}

/**
 * The merges that a process has made last. A window is known by its digest, whichever row it is in: only
 * the body of one that is not in memory is needed.
 */
export class Runs {
  readonly #runs = new Lru<string, Run>({
    max: MAX_WEIGHT,
    weigh: ({ merge: { window } }) => window ? weightOf(window) : 1,
  });

  /** The pieces whose bodies are needed to merge all of them. */
  missing(rows: readonly Row[]): Row[] {
    return runsOf(rows).flatMap((run) => run.slice(this.#find(run)?.names.length));
  }

  /** The merge of pieces; `undefined` if the body of one is needed that has none. */
  async merge(rows: readonly Row[], options: MergeOptions): Promise<Merge | undefined> {
    const merge = new Merge();
    let added = 0;
    for (const pieces of runsOf(rows)) {
      if (added >= MAX_PIECES) {
        await yieldToEventLoop();
        added = 0;
      }
      const run = this.#find(pieces) ?? { names: [], merge: new Merge() };
      const next = pieces.slice(run.names.length);
      if (next.some(({ body }) => body === undefined)) return undefined;
      if (next.length > 0) this.#extend(run, next, options);
      merge.append(run.merge);
      added += next.length;
    }
    return merge;
  }

  /** The run in memory with which the pieces begin. */
  #find(rows: readonly Row[]): Run | undefined {
    const run = this.#runs.get(nameOf(rows[0]!));
    const isStart = run?.names.every((name, i) => i < rows.length && name === nameOf(rows[i]!));
    return isStart ? run : undefined;
  }

  #extend({ names, merge }: Run, next: readonly Row[], options: MergeOptions): void {
    for (const row of next) {
      merge.add(row, options);
      names.push(nameOf(row));
    }
    if (merge.damaged.length > 0) this.#runs.delete(names[0]!);
    else this.#runs.set(names[0]!, { names, merge });
  }
}

/** Consecutive pieces of one level, not too many. */
function runsOf(rows: readonly Row[]): Row[][] {
  const runs: Row[][] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run && run.length < MAX_PIECES && run[0]!.level === row.level) run.push(row);
    else runs.push([row]);
  }
  return runs;
}

/** The digest of a piece, and the span of its row. */
function nameOf({ digest, from_ns, to_ns }: Row): string {
  return `${digestText(digest)} ${from_ns} ${to_ns}`;
}

/** The number of series and frames of a window. */
function weightOf({ series: all }: Window): number {
  let weight = all.size;
  for (const series of all.values()) {
    if (series.type === "profile") weight += series.frames.size;
  }
  return weight;
}
