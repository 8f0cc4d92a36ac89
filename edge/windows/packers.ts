/** The packers of windows that came as JSON: one for each instance. */

import { encode, type Upload } from "@service/core";
import { noEntries } from "@service/core/entries";
import { Lru } from "@service/core/lru";
import { type Frame, type InstanceHead, WindowPacker } from "@service/core/packed";
import type { Database } from "../database/database.ts";
import type { Blocks, KnownBlock } from "./blocks.ts";

/** Packers in memory. */
const MAX_PACKERS = 1_000;

/** A window as a frame, and the block that it names. */
export interface PackedUpload {
  frame: Frame;
  known: KnownBlock;
}

interface Entry {
  /** JSON of the instance, without its windows. */
  head: string;
  packer: WindowPacker;
}

/**
 * Packs the windows of instances, each by the newest block of its instance. Processes need not agree: a
 * block is named by its content, and each window names its block.
 */
export class Packers {
  readonly #blocks: Blocks;
  readonly #packers = new Lru<string, Entry>({ max: MAX_PACKERS });

  /** With the blocks that windows name. */
  constructor(blocks: Blocks) {
    this.#blocks = blocks;
  }

  /** An upload of a project, packed without its entries, which are rows of their own. */
  async pack(
    db: Database,
    project: bigint,
    { window, final, ended_ns: _, ...instance }: Upload,
  ): Promise<PackedUpload> {
    const packer = await this.#find(db, project, instance);
    const { frame, block } = await packer.pack({ ...window, ...noEntries() }, { final });
    return { frame, known: this.#blocks.add(project, block) };
  }

  async #find(db: Database, project: bigint, instance: InstanceHead): Promise<WindowPacker> {
    const name = { project, instance_id: instance.instance_id };
    const key = `${project} ${instance.instance_id}`;
    const head = encode(instance);
    const found = this.#packers.get(key);
    if (found?.head === head) return found.packer;
    const newest = await this.#blocks.newest(db, name);
    const isSame = newest && encode(newest.block.instance) === head;
    const packer = new WindowPacker(instance, isSame ? newest.block : undefined);
    this.#packers.set(key, { head, packer });
    return packer;
  }
}
