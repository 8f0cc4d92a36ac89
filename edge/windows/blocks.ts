/** The blocks of windows: read ones in memory, by project and hash, and their rows. */

import { Lru } from "@service/core/lru";
import { type Block, DamagedError, readBlock } from "@service/core/packed";
import { type Database, type Row, type Statement, statement } from "../database/database.ts";
import { isDamage } from "./damage.ts";
import { deflated, storedFrame } from "./stored_frame.ts";

/** Bytes of all blocks in memory as they came: read they take some 100 MB. */
const MAX_BYTES = 24 * 2 ** 20;

/** The name of an instance, which may have no row yet. */
export interface InstanceName {
  /** Row id. */
  project: bigint;
  instance_id: string;
}

/** A block of a project. */
export interface KnownBlock {
  /** The block. */
  readonly block: Block;
  /** Tags of its instance, JSON. */
  readonly tags: string;
  /** Attributes of its instance, JSON. */
  readonly attributes: string;
  /** Row id of its instance; absent: the database may lack it. */
  instance?: bigint;
}

/** The name of a block: another project's is not known, whoever has sent it. */
export interface BlockName {
  /** Row id. */
  project: bigint;
  hash: string;
}

/** The blocks that a process has read, up to a bound; all can be read again from their rows. */
export class Blocks {
  /** Called for each row of windows or blocks that is damaged. */
  readonly onDamage: (error: Error) => void;
  readonly #known = new Lru<string, KnownBlock>({
    max: MAX_BYTES,
    weigh: ({ block }) => block.frame.bytes.length,
  });

  /** Without any. */
  constructor(onDamage: (error: Error) => void = () => {}) {
    this.onDamage = onDamage;
  }

  /** The block of that name in memory. */
  get({ project, hash }: BlockName): KnownBlock | undefined {
    return this.#known.get(`${project} ${hash}`);
  }

  /** The block of that name, in memory or of a row. */
  async find(db: Database, name: BlockName): Promise<KnownBlock | undefined> {
    const known = this.get(name);
    if (known) return known;
    const { project } = name;
    const hash = Uint8Array.fromHex(name.hash);
    return await this.#read(db, project, statement(FIND, { project, hash }));
  }

  /** The blocks of rows, by hash, without damaged ones: one round trip for those not in memory. */
  async load(
    db: Database,
    project: bigint,
    rowOf: ReadonlyMap<string, bigint>,
  ): Promise<Map<string, Block>> {
    const loaded = new Map<string, Block>();
    const missing: bigint[] = [];
    for (const [hash, id] of rowOf) {
      const known = this.get({ project, hash });
      if (known) loaded.set(hash, known.block);
      else missing.push(id);
    }
    if (missing.length === 0) return loaded;
    const { rows } = await db.query(statement(LOAD, { ids: `[${missing.join()}]` }));
    for (const row of rows) {
      const block = await this.#readStored(row);
      if (!block) continue;
      loaded.set(block.hash, block);
      this.add(project, block).instance = row.instance as bigint;
    }
    return loaded;
  }

  /** The newest block of an instance. */
  async newest(db: Database, { project, instance_id }: InstanceName): Promise<
    KnownBlock | undefined
  > {
    return await this.#read(db, project, statement(NEWEST, { project, instance_id }));
  }

  /** A block, in memory from now on. */
  add(project: bigint, block: Block): KnownBlock {
    const known = this.get({ project, hash: block.hash });
    if (known) return known;
    const { tags, attributes } = block.instance;
    const added: KnownBlock = {
      block,
      tags: JSON.stringify(tags),
      attributes: JSON.stringify(attributes),
    };
    this.#known.set(`${project} ${block.hash}`, added);
    return added;
  }

  async #read(
    db: Database,
    project: bigint,
    query: Statement,
  ): Promise<KnownBlock | undefined> {
    const { rows: [row] } = await db.query(query);
    const block = row && await this.#readStored(row);
    if (!block) return undefined;
    const known = this.add(project, block);
    known.instance = row.instance as bigint;
    return known;
  }

  /** The block of a row; a damaged one is as good as none: it is sent again, and replaces it. */
  async #readStored({ id, hash, body }: Row): Promise<Block | undefined> {
    try {
      const block = await readBlock(storedFrame(body as ArrayBuffer));
      if (block.hash === new Uint8Array(hash as ArrayBuffer).toHex()) return block;
      throw new DamagedError("it must be the block that the row names");
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.onDamage(new Error(`Cannot read row ${id} of blocks: ${error.message}`));
      return undefined;
    }
  }
}

/** The statements that store a block of an instance, if the database may lack it. */
export function storingBlock(
  { block, instance }: KnownBlock,
  args: InstanceName & { received_ns: bigint },
): Statement[] {
  if (instance !== undefined) return [];
  const hash = Uint8Array.fromHex(block.hash);
  return [statement(STORE, { ...args, hash, body: deflated(block.frame) })];
}

const FIND =
  `/* find the block */ SELECT b.id, b.instance, b.hash, b.body FROM blocks b JOIN instances i ON i.id = b.instance
  WHERE b.hash = :hash AND i.project = :project`;

const NEWEST = `/* find the newest block */ SELECT b.id, b.instance, b.hash, b.body
  FROM instances i JOIN blocks b ON b.instance = i.id
  WHERE i.project = :project AND i.instance_id = :instance_id ORDER BY b.id DESC LIMIT 1`;

const LOAD = `/* load the blocks */ SELECT id, instance, hash, body FROM blocks
  WHERE id IN (SELECT value FROM json_each(:ids))`;

const STORE = `INSERT INTO blocks (instance, hash, received_ns, body)
  SELECT id, :hash, :received_ns, :body FROM instances
  WHERE project = :project AND instance_id = :instance_id
  ON CONFLICT DO UPDATE SET body = excluded.body`;
