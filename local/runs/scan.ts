/** Scan of run files, frame by frame: damage is passed over. */

import {
  type Block,
  DamagedError,
  type Frame,
  type PackedWindow,
  readBlock,
  scanFrames,
  type WindowHead,
  windowHead,
} from "@service/core/packed";

/** A window in a file, and the fields that are read without its block. */
export interface ScannedWindow extends PackedWindow {
  readonly head: WindowHead;
}

/** Bytes that are read at once. */
const CHUNK_BYTES = 65_536;

/**
 * The windows of a file whose checksums are right, in order. Those whose block is damaged are left out.
 *
 * @throws {UnknownFormatError} If the file is of another format.
 */
export async function* scanWindows(file: Deno.FsFile): AsyncGenerator<ScannedWindow> {
  let block: Block | undefined;
  for await (const frame of scanFrames(chunksOf(file))) {
    if (frame.kind === "block") block = await undamaged(() => readBlock(frame));
    if (frame.kind !== "window") continue;
    const window = await undamaged(() => withHead(frame, block));
    if (window) yield window;
  }
}

function withHead(frame: Frame, block: Block | undefined): ScannedWindow | undefined {
  const head = windowHead(frame);
  return block?.hash === head.block ? { frame, block, head } : undefined;
}

async function* chunksOf(file: Deno.FsFile): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (let length; (length = await file.read(buffer)) !== null;) yield buffer.subarray(0, length);
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
