/** Streams of packed windows: an answer over HTTP, read frame by frame as it arrives. */

import { type Block, readBlock } from "./block.ts";
import { DamagedError } from "./error.ts";
import { type Frame, frameAt, windowsBeforeEnd } from "./frame.ts";
import { type ReadWindow, readWindow, windowHead } from "./window.ts";

/** A window of a stream, and its block. */
export interface StreamedWindow extends Omit<ReadWindow, "block"> {
  /** Its instance and identities. */
  block: Block;
}

/** A stream that ends before its end frame: the answer is incomplete. */
const CUT = "the stream ended before its last frame";

/**
 * All windows of an answer.
 *
 * @throws {DamagedError} If the answer is damaged, or ends before it is complete.
 * @throws {UnknownFormatError} If it is of another format.
 */
export async function* readWindows(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<StreamedWindow> {
  const blocks = new Map<string, Block>();
  let count = 0;
  for await (const frame of framesOf(stream)) {
    if (frame.kind === "end") {
      if (windowsBeforeEnd(frame) !== count) throw new DamagedError("windows are missing");
      return;
    }
    if (frame.kind === "block") {
      const block = await readBlock(frame);
      blocks.set(block.hash, block);
      continue;
    }
    yield readFrom(frame, blocks);
    count++;
  }
  throw new DamagedError(CUT);
}

function readFrom(frame: Frame, blocks: ReadonlyMap<string, Block>): StreamedWindow {
  const hash = windowHead(frame).block;
  const block = blocks.get(hash);
  if (!block) throw new DamagedError(`the block ${hash} must come before its first window`);
  return { ...readWindow(frame, { table: block.table }), block };
}

/** The frames of a stream. */
async function* framesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let rest = new Uint8Array();
  for await (const chunk of stream) {
    const bytes = new Uint8Array(rest.length + chunk.length);
    bytes.set(rest);
    bytes.set(chunk, rest.length);
    let at = 0;
    for (let frame; at < bytes.length && (frame = frameAt(bytes, at)); at += frame.bytes.length) {
      if (frame.kind === "damage") throw new DamagedError("there is no frame where one must begin");
      yield frame;
    }
    rest = bytes.subarray(at);
  }
  if (rest.length > 0) throw new DamagedError(CUT);
}
