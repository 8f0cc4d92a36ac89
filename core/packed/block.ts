/** The block: an instance and its identities, the same for many windows, named by its hash. */

import { decode, encode } from "../json.ts";
import { open } from "../open_schema.ts";
import { object, type Shape } from "../schema.ts";
import type { Upload } from "../upload.ts";
import { instanceFields } from "../upload_schema.ts";
import { asDamaged, DamagedError } from "./error.ts";
import { type Frame, frameOf } from "./frame.ts";
import { IdentityTable } from "./identity_table.ts";
import { type Identities, identitiesBody, JSON_BOUNDS, readIdentities } from "./identities.ts";

/** An instance: all of its uploads that is not a window. */
export type InstanceHead = Omit<Upload, "window" | "final" | "ended_ns">;

/** Bytes of a block's hash: the first of a SHA-256. */
export const HASH_BYTES = 16;

/** An instance and identities that its windows have in common. */
export interface Block {
  /** The instance that its windows are of. */
  readonly instance: InstanceHead;
  /** The identities. */
  readonly table: IdentityTable;
  /** Its name: the start of the SHA-256 of its payload, 32 hex digits. */
  readonly hash: string;
  /** Its bytes. */
  readonly frame: Frame;
}

/** The block of an instance and identities. */
export async function createBlock(instance: InstanceHead, identities: Identities): Promise<Block> {
  const { instance_id, profiler_version, start_ns, tags, attributes } = instance;
  const head: InstanceHead = { instance_id, profiler_version, start_ns, tags, attributes };
  const body = encode({ instance: head, ...identitiesBody(identities) });
  const frame = frameOf("block", new TextEncoder().encode(body));
  const table = new IdentityTable(identities);
  return { instance: head, table, hash: await hashOf(frame.payload), frame };
}

/**
 * The block in a frame.
 *
 * @throws {DamagedError} If it is none.
 */
export async function readBlock(frame: Frame): Promise<Block> {
  const { kind, payload } = frame;
  if (kind !== "block") {
    throw new DamagedError(`there must be a block: got a frame of kind ${kind}`);
  }
  const body = asDamaged("block", () => decode(utf8.decode(payload), JSON_BOUNDS)) as
    | { instance: unknown }
    | null;
  const instance = asDamaged("block", () => instanceHead.check(body?.instance));
  const table = new IdentityTable(readIdentities(body));
  table.expectUnique();
  return { instance, table, hash: await hashOf(payload), frame };
}

/** The name of the block with this payload. */
async function hashOf(payload: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", payload);
  return new Uint8Array(digest, 0, HASH_BYTES).toHex();
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const instanceHead: Shape<InstanceHead> = open(object<InstanceHead>(instanceFields));
