import type { Window } from "@service/core";
import { type Database, perDatabase, type Statement, statement } from "../database/database.ts";
import {
  type Identities,
  identityKeys,
  type Layout,
  NO_LAYOUT,
  packLayout,
  type StoredLayout,
  unpackLayout,
} from "../format/dictionary.ts";
import { pack, strangersOf } from "../format/packed_window.ts";

/** Identities that all layouts in memory may have together: some 100 MB. */
const MAX_KNOWN = 400_000;

/** A layout that has so many times the identities of a window is not enlarged but made anew. */
const MAX_UNUSED = 4;

/** Strangers that are remembered. */
const MAX_STRANGERS = 20_000;

/** Which instance: it may have no row yet. */
export interface InstanceName {
  /** Row id. */
  project: bigint;
  instance_id: string;
}

/** The layout that new windows of an instance are packed by. */
export interface NewestLayout extends StoredLayout {
  /** Whether the database has it, as far as is known. */
  isStored: boolean;
}

/** A window as it is stored. */
export interface PackedWindow {
  body: Uint8Array<ArrayBuffer>;
  layout: NewestLayout;
}

/** A layout that need not be unpacked again. */
export interface KnownLayout extends NewestLayout {
  layout: Layout;
}

interface Known extends KnownLayout {
  /** Identities that were met and that it lacks. */
  strangers: Set<string>;
  /** How many times a stranger came again: what a larger layout would have saved. */
  regrets: number;
}

/**
 * Packs the windows of instances, each by the newest layout of its instance. What a layout lacks lies
 * in the window itself, until that has cost as much as a new layout does. Processes need not agree:
 * a layout is named by its content, and a window says which is its own.
 */
export class Layouts {
  readonly #db: Database;
  readonly #known = new Map<string, Known>();
  #size = 0;

  /** Over those in `db`. */
  constructor(db: Database) {
    this.#db = db;
  }

  /** A window as it came, packed; its identities may make the instance a new layout. */
  async packWindow(name: InstanceName, window: Window): Promise<PackedWindow> {
    const known = await this.#find(name);
    if (known) {
      const { body, strangers } = pack(window, known.layout, { deflate: false });
      if (!isOutgrown(known, strangers)) return { body, layout: known };
    }
    const next = newKnown(enlarged(known?.layout ?? NO_LAYOUT, window));
    this.#keep(name, next);
    return { body: pack(window, next.layout, { deflate: false }).body, layout: next };
  }

  /** A roll-up, packed; what is rare enough to be in none of its windows' layouts stays in it. */
  async packRollup(name: InstanceName, window: Window): Promise<PackedWindow> {
    const known = await this.#find(name);
    if (!known) return await this.packWindow(name, window);
    return { body: pack(window, known.layout, { deflate: true }).body, layout: known };
  }

  /** The layout that the instance's windows are packed by, where it is at hand. */
  known(name: InstanceName): KnownLayout | undefined {
    return this.#known.get(keyOf(name));
  }

  async #find(name: InstanceName): Promise<Known | undefined> {
    const known = this.#known.get(keyOf(name)) ?? await this.#newest(name);
    if (known) this.#keep(name, known);
    return known;
  }

  async #newest({ project, instance_id }: InstanceName): Promise<Known | undefined> {
    const { rows: [row] } = await this.#db.query(
      statement(NEWEST_LAYOUT, { project, instance_id }),
    );
    if (!row) return undefined;
    const [hash, body] = [row.hash, row.body].map((blob) => new Uint8Array(blob as ArrayBuffer));
    return knownAs(unpackLayout(row.body as ArrayBuffer), { hash: hash!, body: body! }, true);
  }

  /** The least recently used make place. */
  #keep(name: InstanceName, known: Known): void {
    const key = keyOf(name);
    this.#size += known.layout.size - (this.#known.get(key)?.layout.size ?? 0);
    this.#known.delete(key);
    this.#known.set(key, known);
    for (const [oldest, { layout }] of this.#known) {
      if (this.#size <= MAX_KNOWN || oldest === key) return;
      this.#known.delete(oldest);
      this.#size -= layout.size;
    }
  }
}

/** The layouts of a database. */
export const layoutsOf: (db: Database) => Layouts = perDatabase((db) => new Layouts(db));

/** The statements that store a layout which the database may lack, for the instance `args` name. */
export function storingLayout(
  { hash, body, isStored }: NewestLayout,
  args: InstanceName & { received_ns: bigint },
): Statement[] {
  return isStored ? [] : [statement(STORE_LAYOUT, { ...args, hash, body })];
}

const NEWEST_LAYOUT = `SELECT l.hash, l.body FROM instances i JOIN layouts l ON l.instance = i.id
  WHERE i.project = :project AND i.instance_id = :instance_id ORDER BY l.id DESC LIMIT 1`;

const STORE_LAYOUT = `INSERT INTO layouts (instance, hash, received_ns, body)
  SELECT id, :hash, :received_ns, :body FROM instances
  WHERE project = :project AND instance_id = :instance_id
  ON CONFLICT DO NOTHING`;

function keyOf({ project, instance_id }: InstanceName): string {
  return `${project} ${instance_id}`;
}

function newKnown(layout: Layout): Known {
  return knownAs(layout, packLayout(layout), false);
}

function knownAs(layout: Layout, stored: StoredLayout, isStored: boolean): Known {
  return { ...stored, isStored, layout, strangers: new Set(), regrets: 0 };
}

/** Whether strangers that came again have cost as much as a new layout; remembers these. */
function isOutgrown(known: Known, strangers: Identities): boolean {
  if (known.strangers.size > MAX_STRANGERS) known.strangers.clear();
  for (const key of identityKeys(strangers)) {
    if (known.strangers.has(key)) known.regrets++;
    else known.strangers.add(key);
  }
  return known.regrets > known.layout.size;
}

function enlarged(layout: Layout, window: Window): Layout {
  const alone = NO_LAYOUT.with(strangersOf(window, NO_LAYOUT));
  if (layout.size > MAX_UNUSED * alone.size) return alone;
  return layout.with(strangersOf(window, layout));
}
