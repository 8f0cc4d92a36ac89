/** Uploads in the packed format: a window that is stored as it came, after its block or without it. */

import { ShapeError, type Upload } from "@service/core";
import { Ignored } from "@service/core/ignored";
import {
  DamagedError,
  type Frame,
  readBlock,
  readFrames,
  readWindow,
  UnknownFormatError,
  UPLOAD_LIMITS,
  windowHead,
  withoutMembers,
} from "@service/core/packed";
import { type Refusal, refuse } from "@service/core/problem";
import { nanoseconds } from "@service/core/schema";
import { expectEnd } from "@service/core/upload_schema";
import type { Client } from "../http/authenticate.ts";
import type { Blocks, KnownBlock } from "../windows/blocks.ts";
import type { PackedUpload } from "../windows/packers.ts";

/** An upload in the packed format. */
export interface ReadPackedUpload {
  upload: Upload;
  packed: PackedUpload;
  /** The window's bytes as they came. */
  content: Uint8Array;
  /** Paths of members that were ignored. */
  ignored: string[];
}

/** The client that sent an upload, and the blocks in memory. */
export interface BlockSource {
  client: Client;
  blocks: Blocks;
}

/**
 * The upload in a body.
 *
 * @throws {Refusal} 400 if it is none, or damaged; 415 if it has another format; 424 if the block of its
 * window is not known.
 */
export async function readPackedUpload(
  body: Uint8Array<ArrayBuffer>,
  source: BlockSource,
): Promise<ReadPackedUpload> {
  try {
    return await readUpload(body, source);
  } catch (error) {
    if (error instanceof UnknownFormatError) throw refuse(415, error.message);
    if (error instanceof ShapeError) throw badPart("ended_ns", error.fault);
    if (error instanceof DamagedError) {
      throw refuse(400, error.message, [{ parameter: "body", message: "is damaged" }]);
    }
    throw error;
  }
}

async function readUpload(
  body: Uint8Array<ArrayBuffer>,
  source: BlockSource,
): Promise<ReadPackedUpload> {
  const [first, second, ...others] = readFrames(body);
  if (!first || others.length > 0) {
    throw badPart("body", "must be a window, or a block and its window");
  }
  const frame = second ?? first;
  const { block: hash } = windowHead(frame);
  const known = second ? await readSent(first, hash, source) : await findSent(hash, source);
  const { block: { instance, table } } = known;
  const ignored = new Ignored();
  const { window, final, members } = readWindow(frame, { table, ignored, limits: UPLOAD_LIMITS });
  const { ended_ns, ...unknown } = members;
  ignored.add(Object.keys(unknown));
  const { from_ns, to_ns } = window;
  if (to_ns <= from_ns) throw badPart("to_ns", `must be after from_ns (${from_ns})`);
  if (from_ns < instance.start_ns) {
    throw badPart("from_ns", `must not be before start_ns (${instance.start_ns})`);
  }
  const upload = { ...instance, window, final, ...endIn(ended_ns) };
  expectEnd(upload);
  return {
    upload,
    packed: { frame: withoutMembers(frame), known },
    content: frame.bytes,
    ignored: ignored.paths,
  };
}

/** The end of the workload, as a member of the window says it. */
function endIn(member: unknown): Pick<Upload, "ended_ns"> {
  return member === undefined ? {} : { ended_ns: nanoseconds.check(member) };
}

/** The block of an upload, which its window must name. */
async function readSent(
  frame: Frame,
  hash: string,
  { client, blocks }: BlockSource,
): Promise<KnownBlock> {
  const block = await readBlock(frame);
  if (block.hash === hash) return blocks.add(client.project.id, block);
  throw badPart("block", `must be the one that the window names, ${hash}: got ${block.hash}`);
}

/** A block that the project sent before. */
async function findSent(hash: string, { client, blocks }: BlockSource): Promise<KnownBlock> {
  const known = await blocks.find(client.db, { project: client.project.id, hash });
  if (known) return known;
  const message = "is not known here: send it with the window";
  throw refuse(424, `Cannot read the window: its block ${hash} ${message}`, [
    { parameter: "block", message },
  ]);
}

function badPart(parameter: string, message: string): Refusal {
  return refuse(400, `Cannot store the window: ${parameter} ${message}`, [{ parameter, message }]);
}
