/** The dictionaries of instances: by which one new windows are packed, and when it is made anew. */

import type { Window } from "@service/core";
import { Lru } from "@service/core/lru";
import { type Database, type Statement, statement } from "../database/database.ts";
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
const MAX_IDENTITIES = 400_000;

/** A layout with more than this many times the identities of a window is begun anew. */
const MAX_UNUSED = 4;

/** Missing identities of a layout that are remembered. */
const MAX_MISSING = 20_000;

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
  /** Identities that windows had and it has not. */
  missing: Set<string>;
  /** Times that a missing identity came again, since the layout was made. */
  repeatedMisses: number;
}

/** Which window to pack. */
export interface WindowToPack {
  name: InstanceName;
  window: Window;
}

/**
 * Packs the windows of instances, each by the newest layout of its instance. What a layout lacks lies
 * in the window itself, until that has cost as much as a new layout does. Processes need not agree:
 * a layout is named by its content, and a window says which is its own.
 */
export class Dictionaries {
  readonly #known = new Lru<string, Known>({
    max: MAX_IDENTITIES,
    weigh: ({ layout }) => layout.size,
  });

  /** A window as it came, packed; its identities may make the instance a new layout. */
  async packWindow(db: Database, { name, window }: WindowToPack): Promise<PackedWindow> {
    const known = await this.#find(db, name);
    if (known) {
      const { body, strangers } = pack(window, known.layout, { deflate: false });
      noteMissing(known, strangers);
      if (!needsRebuild(known)) return { body, layout: known };
    }
    const layout = rebuilt(known?.layout ?? NO_LAYOUT, window);
    const next = knownAs(layout, packLayout(layout), false);
    this.#known.set(keyOf(name), next);
    return { body: pack(window, layout, { deflate: false }).body, layout: next };
  }

  /** A roll-up, packed; what is rare enough to be in none of its windows' layouts stays in it. */
  async packRollup(db: Database, { name, window }: WindowToPack): Promise<PackedWindow> {
    const known = await this.#find(db, name);
    if (!known) return await this.packWindow(db, { name, window });
    return { body: pack(window, known.layout, { deflate: true }).body, layout: known };
  }

  /** The layout that the instance's windows are packed by, where it is at hand. */
  known(name: InstanceName): KnownLayout | undefined {
    return this.#known.get(keyOf(name));
  }

  async #find(db: Database, name: InstanceName): Promise<Known | undefined> {
    const known = this.#known.get(keyOf(name));
    if (known) return known;
    const newest = await newestOf(db, name);
    if (newest) this.#known.set(keyOf(name), newest);
    return newest;
  }
}

/** The statements that store a layout which the database may lack, for the instance `args` name. */
export function storingLayout(
  { hash, body, isStored }: NewestLayout,
  args: InstanceName & { received_ns: bigint },
): Statement[] {
  return isStored ? [] : [statement(STORE_LAYOUT, { ...args, hash, body })];
}

const NEWEST_LAYOUT = `/* find the newest layout */ SELECT l.hash, l.body
  FROM instances i JOIN layouts l ON l.instance = i.id
  WHERE i.project = :project AND i.instance_id = :instance_id ORDER BY l.id DESC LIMIT 1`;

const STORE_LAYOUT = `INSERT INTO layouts (instance, hash, received_ns, body)
  SELECT id, :hash, :received_ns, :body FROM instances
  WHERE project = :project AND instance_id = :instance_id
  ON CONFLICT DO NOTHING`;

function keyOf({ project, instance_id }: InstanceName): string {
  return `${project} ${instance_id}`;
}

async function newestOf(
  db: Database,
  { project, instance_id }: InstanceName,
): Promise<Known | undefined> {
  const { rows: [row] } = await db.query(statement(NEWEST_LAYOUT, { project, instance_id }));
  if (!row) return undefined;
  const [hash, body] = [row.hash, row.body].map((blob) => new Uint8Array(blob as ArrayBuffer));
  return knownAs(unpackLayout(row.body as ArrayBuffer), { hash: hash!, body: body! }, true);
}

function knownAs(layout: Layout, stored: StoredLayout, isStored: boolean): Known {
  return { ...stored, isStored, layout, missing: new Set(), repeatedMisses: 0 };
}

function noteMissing(known: Known, identities: Identities): void {
  if (known.missing.size > MAX_MISSING) known.missing.clear();
  for (const key of identityKeys(identities)) {
    if (known.missing.has(key)) known.repeatedMisses++;
    else known.missing.add(key);
  }
}

/** Whether identities that were missing again and again have cost as much as a new layout. */
function needsRebuild({ repeatedMisses, layout }: Known): boolean {
  return repeatedMisses > layout.size;
}

/** The layout with the window's identities; without the old ones where most are not used any more. */
function rebuilt(layout: Layout, window: Window): Layout {
  const alone = NO_LAYOUT.with(strangersOf(window, NO_LAYOUT));
  if (layout.size > MAX_UNUSED * alone.size) return alone;
  return layout.with(strangersOf(window, layout));
}
