/** Stored frames: the packed windows and blocks of rows, as they came, or deflated where that pays. */

import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Interval, Window } from "@service/core";
import {
  type Block,
  DamagedError,
  type Frame,
  frameAt,
  MAX_PAYLOAD_BYTES,
  readWindow,
  type WindowWriter,
} from "@service/core/packed";
import { digestOf } from "./digest.ts";

/** First byte of a deflated frame: no frame begins with it. */
const DEFLATED = 0;

/** A third less time than the next level takes, for a tenth more bytes. */
const DEFLATE_LEVEL = 1;

/** Most bytes of a frame; it has fewer before its payload. */
const MAX_FRAME_BYTES = MAX_PAYLOAD_BYTES + 64;

/** A frame as a row has it, to a third less. */
export function deflated({ bytes }: Frame): Uint8Array<ArrayBuffer> {
  const shorter = deflateRawSync(bytes, { level: DEFLATE_LEVEL });
  const body = new Uint8Array(1 + shorter.length);
  body[0] = DEFLATED;
  body.set(shorter, 1);
  return body;
}

/** The columns of a packed window in its row. */
export interface StoredWindow {
  body: Uint8Array<ArrayBuffer>;
  /** {@linkcode digestOf} the window as it came, or as it was merged. */
  digest: Uint8Array<ArrayBuffer>;
}

/** Windows merged into one. */
export interface MergedWindow {
  window: Window;
  /** The block that it names. */
  block: Block;
  /** The parts of its span that the windows left out. */
  gaps?: readonly Interval[];
}

/** Merged windows as a row has them; `undefined`: together they have more than a frame can hold. */
export function storedMerge(
  writer: WindowWriter,
  { window, block, gaps = [] }: MergedWindow,
): StoredWindow | undefined {
  try {
    const { frame } = writer.write({ window, block, members: gaps.length > 0 ? { gaps } : {} });
    readWindow(frame, block);
    return { body: deflated(frame), digest: digestOf(frame.bytes) };
  } catch (error) {
    if (error instanceof RangeError || error instanceof DamagedError) return undefined;
    throw error;
  }
}

/**
 * The frame of a row.
 *
 * @throws {DamagedError} If the row has anything else.
 * @throws {UnknownFormatError} If it is of another format.
 */
export function storedFrame(body: ArrayBuffer): Frame {
  const stored = new Uint8Array(body);
  const bytes = stored[0] === DEFLATED ? inflated(stored.subarray(1)) : stored;
  const frame = frameAt(bytes, 0);
  if (!frame || frame.kind === "damage" || frame.bytes.length < bytes.length) {
    throw new DamagedError("a row must have one whole frame");
  }
  return frame;
}

function inflated(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(inflateRawSync(bytes, { maxOutputLength: MAX_FRAME_BYTES }));
  } catch (cause) {
    throw new DamagedError("a deflated row cannot be inflated", { cause });
  }
}
