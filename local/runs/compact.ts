/** Compaction: the oldest windows of a run lose resolution, so that its file stays small. */

import { type PackedWindow, WindowPacker } from "@service/core/packed";

/** How much is to be saved. */
export interface CompactOptions {
  /** Bytes to save. */
  excess: number;
  /** Is called with each window that is left out. */
  leftOut(window: PackedWindow): void;
}

/**
 * The windows, of which adjacent ones are merged, the oldest first, until enough is saved. Of two that
 * one window cannot hold, the older one is left out.
 */
export async function* compacted(
  windows: AsyncIterable<PackedWindow>,
  { excess, leftOut }: CompactOptions,
): AsyncGenerator<PackedWindow> {
  let packer: WindowPacker | undefined;
  let saved = 0;
  let count = 0;
  let held: PackedWindow | undefined;
  for await (const window of windows) {
    if (held && saved < excess) {
      packer ??= new WindowPacker(held.block.instance, held.block);
      const merged = await mergedOrNothing(packer, [held, window]);
      saved += sizeOf(held);
      if (merged) {
        saved += sizeOf(window) - sizeOf(merged);
        yield merged;
        count++;
      } else leftOut(held);
      held = merged ? undefined : window;
      continue;
    }
    if (held) {
      yield held;
      count++;
    }
    held = window;
  }
  if (!held) return;
  if (count > 0 || saved >= excess) yield held;
  else leftOut(held);
}

async function mergedOrNothing(
  packer: WindowPacker,
  [first, second]: readonly [PackedWindow, PackedWindow],
): Promise<PackedWindow | undefined> {
  try {
    return await packer.merge(first, second);
  } catch {
    // Between them is damage, or one of them is damaged.
    return undefined;
  }
}

function sizeOf({ frame }: PackedWindow): number {
  return frame.bytes.length;
}
