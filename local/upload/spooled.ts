/** Spooled windows: what a spool knows of each, and which of them it merges first. */

import type { Interval } from "@service/core/gaps";
import type { PackedWindow } from "@service/core/packed";
import type { WindowFile } from "./spool_files.ts";

/** One window in the spool. */
export interface Spooled {
  readonly from_ns: bigint;
  readonly to_ns: bigint;
  /** Size in bytes. */
  readonly bytes: number;
  sent: boolean;
  /** Its file, or the window itself where the disk did not take it. */
  kept: WindowFile | PackedWindow;
}

/** The index of the first of two adjacent windows, both never sent, that are smallest together; or -1. */
export function smallestPair(entries: readonly Spooled[]): number {
  let index = -1;
  let smallest = Infinity;
  for (let i = 0; i + 1 < entries.length; i++) {
    const [a, b] = [entries[i]!, entries[i + 1]!];
    if (a.sent || b.sent || a.to_ns !== b.from_ns || a.bytes + b.bytes >= smallest) continue;
    smallest = a.bytes + b.bytes;
    index = i;
  }
  return index;
}

/** The span alone. */
export function spanOf({ from_ns, to_ns }: Interval): Interval {
  return { from_ns, to_ns };
}
