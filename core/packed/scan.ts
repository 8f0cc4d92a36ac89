/** Scans of packed files that may be cut or damaged, such as run files: damage is passed over. */

import { type Block, readBlock } from "./block.ts";
import { DamagedError } from "./error.ts";
import { type Damage, type Frame, frameAt } from "./frame.ts";
import type { PackedWindow } from "./packer.ts";
import { type WindowHead, windowHead } from "./window.ts";

/** A window of a file, and its fields that are read without its block. */
export interface ScannedWindow extends PackedWindow {
  /** The fields. */
  readonly head: WindowHead;
}

/** Fewest bytes to make room for. */
const ROOM = 65_536;

/**
 * The windows of a file whose checksums are right, in order. Those whose block is damaged are left out.
 *
 * @throws {UnknownFormatError} If the file is of another format.
 */
export async function* scanWindows(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<ScannedWindow> {
  let block: Block | undefined;
  for await (const frame of scanFrames(stream)) {
    if (frame.kind === "block") block = await undamaged(() => readBlock(frame));
    if (frame.kind !== "window") continue;
    const head = await undamaged(() => windowHead(frame));
    if (head && block?.hash === head.block) yield { frame, block, head };
  }
}

/**
 * The frames of a stream that may be damaged, and the bytes that are none: views of bytes that do not
 * change any more. A frame that is cut is the last of the damage.
 *
 * @throws {UnknownFormatError} If a frame is of another format.
 */
export async function* scanFrames(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<Frame | Damage> {
  let bytes = new Uint8Array();
  let [start, end] = [0, 0];
  for await (const chunk of stream) {
    if (end + chunk.length > bytes.length) {
      // Twice what is needed: a frame of many chunks is not copied for each of them.
      const grown = new Uint8Array(Math.max(ROOM, 2 * (end - start + chunk.length)));
      grown.set(bytes.subarray(start, end));
      [bytes, start, end] = [grown, 0, end - start];
    }
    bytes.set(chunk, end);
    end += chunk.length;
    const filled = bytes.subarray(0, end);
    for (let frame; start < end && (frame = frameAt(filled, start));) {
      start += frame.bytes.length;
      yield frame;
    }
  }
  if (start < end) yield { kind: "damage", bytes: bytes.subarray(start, end) };
}

/** The result of `read`, or `undefined` if what it reads is damaged. */
async function undamaged<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DamagedError) return undefined;
    throw error;
  }
}
