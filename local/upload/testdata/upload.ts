/** Packed windows for the tests of this room. */

import { emptyWindow, seriesKey } from "@service/core";
import {
  type Block,
  DamagedError,
  type InstanceHead,
  type PackedWindow,
  readBlock,
  readFrames,
  readWindow,
  type WindowHead,
  windowHead,
  WindowPacker,
} from "@service/core/packed";
import type { Window } from "@service/core";

/** An instance that starts at 0. */
export const INSTANCE: InstanceHead = {
  instance_id: "0123456789ab",
  profiler_version: "0.0.0",
  start_ns: 0n,
  tags: { "instance.id": "0123456789ab" },
  attributes: {},
};

const packer = new WindowPacker(INSTANCE);

/** The window `(from, to]`, in seconds, whose counter `n` gained `total`, and any other gauges. */
export async function packed(
  from: number,
  to: number,
  { total = 1, gauges = [] as readonly string[], packedBy = packer, final = false } = {},
): Promise<PackedWindow> {
  const window = emptyWindow(BigInt(from) * 1_000_000_000n);
  window.to_ns = BigInt(to) * 1_000_000_000n;
  const base = { tags: {}, updated_ns: window.to_ns };
  const counter = { ...base, name: "n", type: "counter", total } as const;
  window.series.set(seriesKey(counter), counter);
  for (const name of gauges) {
    const gauge = { ...base, name, type: "gauge", value: 1 } as const;
    window.series.set(seriesKey(gauge), gauge);
  }
  return await packedBy.pack(window, { final });
}

/** A window that was read, and whether its block came with it. */
export interface ReadUpload extends Omit<WindowHead, "block"> {
  window: Window;
  block: Block;
  withBlock: boolean;
}

/**
 * The window of an upload: its block is in it, or among the known ones by hash.
 *
 * @throws {DamagedError} If the upload is anything else; `undefined` if the block is not known.
 */
export async function readUpload(
  bytes: Uint8Array<ArrayBuffer>,
  known: ReadonlyMap<string, Block> = new Map(),
): Promise<ReadUpload | undefined> {
  const frames = [...readFrames(bytes)];
  const frame = frames.pop();
  const [first, ...more] = frames;
  if (!frame || more.length > 0) throw new DamagedError("must be a window, and its block if any");
  const { block: hash } = windowHead(frame);
  const block = first ? await readBlock(first) : known.get(hash);
  if (!block) return undefined;
  if (block.hash !== hash) throw new DamagedError("must be the block of the window");
  return { ...readWindow(frame, block), block, withBlock: first !== undefined };
}
