/** The packer of one instance's windows: which block they name, and when a new one is made. */

import { encode } from "../json.ts";
import { absorbOwned, type Window } from "../window.ts";
import { type Block, createBlock, type InstanceHead } from "./block.ts";
import { DamagedError } from "./error.ts";
import { type Frame, MAX_PAYLOAD_BYTES } from "./frame.ts";
import {
  type Identities,
  identitiesBody,
  identityCount,
  identityKeys,
  noIdentities,
} from "./identities.ts";
import { IdentityTable } from "./identity_table.ts";
import { type Members, readWindow } from "./window.ts";
import { WindowWriter } from "./window_writer.ts";
import { UPLOAD_LIMITS } from "./window_limits.ts";

/** A window as a frame, and the block that it names. */
export interface PackedWindow {
  /** The window. */
  readonly frame: Frame;
  /** The block that its reader must have. */
  readonly block: Block;
}

/** What a packed window has beside the window. */
export interface PackOptions {
  /** Whether it is the last window of its instance. */
  final?: boolean;
  /** Members beside the lists of entries. */
  members?: Members;
}

/** A block with more identities than this multiple of a window's is replaced without its old ones. */
const MAX_UNUSED = 4;

/** Missing identities that are remembered. */
const MAX_MISSING = 20_000;

/**
 * Packs windows of one instance. Identities that the block lacks are in the window itself, until they
 * have cost as much as a new block.
 */
export class WindowPacker {
  readonly #instance: InstanceHead;
  readonly #writer = new WindowWriter();
  readonly #missing = new Set<string>();
  #block: Block | undefined;
  /** Identities that were missing in more than one window since the block was made. */
  #repeatedMisses = 0;

  /** Of an instance, and of the block that its windows named before, if any. */
  constructor(instance: InstanceHead, block?: Block) {
    this.#instance = instance;
    this.#block = block;
  }

  /** The block that the next window will name if it has no further identities. */
  get block(): Block | undefined {
    return this.#block;
  }

  /**
   * A window, packed; its identities may cause a new block.
   *
   * @throws {RangeError} If the window or its block is too large for a frame.
   */
  async pack(window: Window, options: PackOptions = {}): Promise<PackedWindow> {
    const block = this.#block;
    if (block) {
      const { frame, missing } = this.#writer.write({ window, block, ...options });
      this.#note(missing);
      if (this.#repeatedMisses <= block.table.size) return { frame, block };
    }
    const rebuilt = await createBlock(this.#instance, this.#rebuilt(window));
    this.#block = rebuilt;
    this.#missing.clear();
    this.#repeatedMisses = 0;
    return { ...this.#writer.write({ window, block: rebuilt, ...options }), block: rebuilt };
  }

  /**
   * Two adjacent windows as one, with the members of the second beside the lists of entries; `undefined`
   * if that would be more than an upload may have.
   *
   * @throws {DamagedError} If one of them is not what was written.
   * @throws {RangeError} If the second does not start where the first ends.
   */
  async merge(first: PackedWindow, second: PackedWindow): Promise<PackedWindow | undefined> {
    const [a, b] = [first, second].map(({ frame, block }) => readWindow(frame, block));
    if (a!.to_ns !== b!.from_ns) {
      throw new RangeError(
        `Cannot merge windows: one ends at ${a!.to_ns}, the next starts at ${b!.from_ns}`,
      );
    }
    absorbOwned(a!.window, b!.window);
    try {
      const { final, members } = b!;
      const merged = await this.pack(a!.window, { final, members });
      readWindow(merged.frame, { ...merged.block, limits: UPLOAD_LIMITS });
      return merged;
    } catch (error) {
      if (error instanceof DamagedError || error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #note(identities: Identities): void {
    if (identityCount(identities) === 0) return;
    if (this.#missing.size > MAX_MISSING) this.#missing.clear();
    for (const key of identityKeys(identities)) {
      if (this.#missing.has(key)) this.#repeatedMisses++;
      else this.#missing.add(key);
    }
  }

  /** The identities of the block and of a window; those of the window alone if it uses few others. */
  #rebuilt(window: Window): Identities {
    const alone = this.#writer.missing(window, new IdentityTable(noIdentities()));
    const table = this.#block?.table;
    if (!table || table.size > MAX_UNUSED * identityCount(alone)) return alone;
    const missing = this.#writer.missing(window, table);
    const bytes = this.#block!.frame.bytes.length + sizeOf(missing);
    return bytes > MAX_PAYLOAD_BYTES ? alone : table.with(missing).identities;
  }
}

/** Bytes that identities take in a block. */
function sizeOf(identities: Identities): number {
  return new TextEncoder().encode(encode(identitiesBody(identities))).length;
}
