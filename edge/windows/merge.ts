/** The merge of pieces: one after the other, without those that are damaged. */

import { absorb, absorbOwned, emptyWindow, type Window } from "@service/core";
import { gapsIn, type Interval, joinInterval } from "@service/core/gaps";
import { type Block, DamagedError, type Members, readWindow } from "@service/core/packed";
import type { Row } from "../database/database.ts";
import { isDamage } from "./damage.ts";
import { storedFrame } from "./stored_frame.ts";

/** What pieces are merged with. */
export interface MergeOptions {
  /** Their blocks, by hash; a damaged one is missing. */
  blocks: ReadonlyMap<string, Block>;
  /** Whether series of this name are read; all when absent. */
  wanted?: (name: string) => boolean;
  /** Called for each damaged piece. */
  onDamage: (error: Error) => void;
}

/** Several pieces as one. */
export class Merge {
  /** The block of the last piece that could be read. */
  block: Block | undefined;
  /** The spans of the windows that could be read; those that touch are one. */
  readonly intervals: Interval[] = [];
  /** The spans of pieces that are damaged, or whose block is. */
  readonly damaged: Interval[] = [];
  /** The spans of both; those that touch are one. */
  readonly stored: Interval[] = [];
  #window: Window | undefined;

  /** The merged windows; `undefined`: none could be read. */
  get window(): Window | undefined {
    return this.#window;
  }

  /** Adds a piece: a row of the query for them. */
  add(row: Row, options: MergeOptions): void {
    const span = { from_ns: row.from_ns as bigint, to_ns: row.to_ns as bigint };
    try {
      const { window, members, block } = pieceOf(row, options);
      absorbOwned(this.#window ??= emptyWindow(span.from_ns), window);
      this.block = block;
      for (const interval of gapsIn(members.gaps as Interval[] ?? [], span)) {
        joinInterval(this.intervals, interval);
        joinInterval(this.stored, interval);
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      options.onDamage(new Error(`Cannot read row ${row.id} of windows: ${error.message}`));
      this.damaged.push(span);
      joinInterval(this.stored, span);
    }
  }

  /** Adds the pieces of another merge, which stays as it is. */
  append({ window, block, intervals, damaged, stored }: Merge): void {
    if (window) absorb(this.#window ??= emptyWindow(window.from_ns), window);
    this.block = block ?? this.block;
    for (const interval of intervals) joinInterval(this.intervals, interval);
    this.damaged.push(...damaged);
    for (const interval of stored) joinInterval(this.stored, interval);
  }
}

/**
 * The window of a row, with its gaps if it has some, and its block.
 *
 * @throws {DamagedError} If the row has another window than the one that was stored, or none.
 */
function pieceOf(
  row: Row,
  { blocks, wanted }: Pick<MergeOptions, "blocks" | "wanted">,
): { window: Window; members: Members; block: Block } {
  const hash = hashOf(row);
  const block = blocks.get(hash ?? "");
  if (!block) throw new DamagedError("its block is missing");
  const read = readWindow(storedFrame(row.body as ArrayBuffer), { ...block, wanted });
  if (read.block !== hash || read.from_ns !== row.from_ns || read.to_ns !== row.to_ns) {
    throw new DamagedError("it must be the window that the row names");
  }
  return { window: read.window, members: read.members, block };
}

/** The hash of the block that a row names; `undefined`: it has no row. */
export function hashOf({ hash }: Row): string | undefined {
  return hash === null ? undefined : new Uint8Array(hash as ArrayBuffer).toHex();
}
