/** Streams of packed windows: an answer over HTTP, written and read frame by frame. */

import { type Block, readBlock } from "./block.ts";
import { DamagedError } from "./error.ts";
import { endFrame, type Frame, windowsBeforeEnd } from "./frame.ts";
import type { PackedWindow } from "./packer.ts";
import { scanFrames } from "./scan.ts";
import { type ReadWindow, readWindow, windowHead } from "./window.ts";

/** A window of a stream, and its block. */
export interface StreamedWindow extends Omit<ReadWindow, "block"> {
  /** Its instance and identities. */
  block: Block;
}

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
