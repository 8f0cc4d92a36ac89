/** Streams of packed windows: an answer over HTTP, written and read frame by frame. */

import { type Block, readBlock } from "./block.ts";
import { DamagedError } from "./error.ts";
import { type Damage, endFrame, type Frame, frameAt, windowsBeforeEnd } from "./frame.ts";
import type { PackedWindow } from "./packer.ts";
import { type ReadWindow, readWindow, windowHead } from "./window.ts";

/** A window of a stream, and its block. */
export interface StreamedWindow extends Omit<ReadWindow, "block"> {
  /** Its instance and identities. */
  block: Block;
}

/** Fewest bytes to make room for. */
const ROOM = 65_536;

/** The bytes of an answer with these windows; each names the block before it. */
export async function* streamWindows(
  windows: AsyncIterable<PackedWindow>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let newest: Block | undefined;
  let count = 0;
  for await (const { frame, block } of windows) {
    if (block.hash !== newest?.hash) yield block.frame.bytes;
    yield frame.bytes;
    newest = block;
    count++;
  }
  yield endFrame(count).bytes;
}

/**
 * All windows of an answer.
 *
 * @throws {DamagedError} If the answer is damaged, or ends before it is complete.
 * @throws {UnknownFormatError} If it is of another format.
 */
export async function* readWindows(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<StreamedWindow> {
  let newest: Block | undefined;
  let end: Frame | undefined;
  let count = 0;
  for await (const frame of scanFrames(stream)) {
    if (frame.kind === "damage") throw new DamagedError("there is no frame where one must begin");
    if (end) throw new DamagedError("there is a frame behind the last one");
    if (frame.kind === "end") end = frame;
    else if (frame.kind === "block") newest = await readBlock(frame);
    else {
      yield readFrom(frame, newest);
      count++;
    }
  }
  if (!end) throw new DamagedError("the stream ended before its last frame");
  if (windowsBeforeEnd(end) !== count) throw new DamagedError("windows are missing");
}

function readFrom(frame: Frame, block: Block | undefined): StreamedWindow {
  const { block: hash } = windowHead(frame);
  if (block?.hash !== hash) {
    throw new DamagedError(`the block ${hash} must come before its windows`);
  }
  return { ...readWindow(frame, block), block };
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
