/** Late windows for gaps in roll-ups: where the windows beside them are no longer stored. */

import { absorbOwned, type Window } from "@service/core";
import { gapsIn, type Interval, joinInterval, overlap } from "@service/core/gaps";
import { type Block, readWindow, WindowWriter } from "@service/core/packed";
import { earlier, later } from "@service/core/time";
import { mergeResources } from "@service/core/window";
import type { Row } from "../database/database.ts";
import type { MergeOptions } from "./merge.ts";
import { mergePieces } from "./pieces.ts";
import { storedFrame, storedMerge, type StoredWindow } from "./stored_frame.ts";

/** A window, as its row would have it. */
export interface LateWindow extends Interval {
  body: Uint8Array<ArrayBuffer>;
  /** The block that it names. */
  block: Block;
}

/** The roll-up of the span in which a late window ends, if it has one. */
export interface RollupOptions extends Omit<MergeOptions, "wanted"> {
  /** A row with its block's hash. */
  row: Row | undefined;
}

/** A roll-up with a late window in it. */
export interface Added extends StoredWindow, Interval {
  /** Hash of the block that it names. */
  block: string;
}

/** The roll-up with the window; `conflict` says why there is none, `null`: it has the window already. */
export async function addToRollup(
  { body, block, from_ns, to_ns }: LateWindow,
  { row, ...options }: RollupOptions,
): Promise<Added | { conflict: string | null }> {
  const { window } = readWindow(storedFrame(body.buffer), block);
  const merge = await mergePieces(row ? [row] : [], options);
  if (merge.damaged.length > 0) return { conflict: "is late, and its roll-up cannot be read" };
  const known = merge.intervals.map((one) => overlap(one, { from_ns, to_ns }))
    .filter((one) => one.from_ns < one.to_ns);
  if (known.length > 0) {
    const isWhole = known.length === 1 && known[0]!.from_ns === from_ns &&
      known[0]!.to_ns === to_ns;
    return { conflict: isWhole ? null : "overlaps windows that were summed up" };
  }
  const merged = merge.window ? withLate(merge.window, window) : window;
  const intervals: Interval[] = [];
  for (const one of [...merge.intervals, { from_ns, to_ns }].sort(byStart)) {
    joinInterval(intervals, one);
  }
  const named = merge.block ?? block;
  const gaps = gapsIn(intervals, merged);
  const stored = storedMerge(new WindowWriter(), { window: merged, block: named, gaps });
  if (!stored) return { conflict: "is late, and too large for its roll-up" };
  return { ...stored, from_ns: merged.from_ns, to_ns: merged.to_ns, block: named.hash };
}

/** A merge of windows with one more that lies between them: what is newest stays so. */
function withLate(window: Window, late: Window): Window {
  const { from_ns, to_ns, series, resources } = window;
  for (const [key, theirs] of late.series) {
    const ours = series.get(key);
    if (ours?.type === "gauge" && ours.updated_ns > theirs.updated_ns) late.series.delete(key);
  }
  for (const [key, theirs] of late.resources) {
    const ours = resources.get(key);
    if (!ours || ours.last_seen_ts < theirs.last_seen_ts) continue;
    resources.set(key, mergeResources(theirs, ours));
    late.resources.delete(key);
  }
  absorbOwned(window, late);
  return { ...window, from_ns: earlier(from_ns, late.from_ns), to_ns: later(to_ns, late.to_ns) };
}

function byStart(a: Interval, b: Interval): number {
  return a.from_ns < b.from_ns ? -1 : 1;
}
