/** The dictionaries of instances: which one packs new windows, and when it is rebuilt. */

import type { Window } from "@service/core";
import { Lru } from "@service/core/lru";
import { type Database, type Statement, statement } from "../database/database.ts";
import {
  type Dictionary,
  EMPTY_DICTIONARY,
  type Identities,
  identityKeys,
  packDictionary,
  type StoredDictionary,
  unpackDictionary,
} from "../format/dictionary.ts";
import { missingIn, WindowPacker } from "../format/packed_window.ts";

/** Identities that all dictionaries in memory may have together: some 100 MB. */
const MAX_IDENTITIES = 400_000;

/** A dictionary with more than this multiple of a window's identities starts afresh. */
const MAX_UNUSED = 4;

/** Missing identities of a dictionary that are remembered. */
const MAX_MISSING = 20_000;

/** The name of an instance, which may have no row yet. */
export interface InstanceName {
  /** Row id. */
  project: bigint;
  instance_id: string;
}

/** The dictionary that new windows of an instance are packed by. */
export interface NewestDictionary extends StoredDictionary {
  /** Whether the database has it, as far as is known. */
  isStored: boolean;
}

/** A window as it is stored. */
export interface PackedWindow {
  body: Uint8Array<ArrayBuffer>;
  dictionary: NewestDictionary;
}

/** A dictionary in memory. */
export interface KnownDictionary extends NewestDictionary {
  dictionary: Dictionary;
}

interface Known extends KnownDictionary {
  /** Identities of windows that it lacks. */
  missing: Set<string>;
  /** Repeated misses since the last rebuild. */
  repeatedMisses: number;
}

/** A window and its instance. */
export interface WindowToPack {
  name: InstanceName;
  window: Window;
}

/**
 * Packs the windows of instances, each by the newest dictionary of its instance. Identities that this
 * lacks are in the window itself, until that has cost as much as a new dictionary does. Processes need
 * not agree: a dictionary is named by its content, and a window says which is its own.
 */
export class Dictionaries {
  readonly #known = new Lru<string, Known>({
    max: MAX_IDENTITIES,
    weigh: ({ dictionary }) => dictionary.size,
  });
  readonly #packer = new WindowPacker();

  /** An uploaded window, packed; its identities may cause a new dictionary. */
  async packWindow(db: Database, { name, window }: WindowToPack): Promise<PackedWindow> {
    const known = await this.#find(db, name);
    if (known) {
      const { body, missing } = this.#packer.pack(window, {
        dictionary: known.dictionary,
        deflate: false,
      });
      noteMissing(known, missing);
      if (!needsRebuild(known)) return { body, dictionary: known };
    }
    const dictionary = rebuilt(known?.dictionary ?? EMPTY_DICTIONARY, window);
    const next = knownAs(dictionary, packDictionary(dictionary), false);
    this.#known.set(keyOf(name), next);
    return {
      body: this.#packer.pack(window, { dictionary, deflate: false }).body,
      dictionary: next,
    };
  }

  /** A roll-up, packed; rare identities, which no window's dictionary has, are in the roll-up itself. */
  async packRollup(db: Database, { name, window }: WindowToPack): Promise<PackedWindow> {
    const known = await this.#find(db, name);
    if (!known) return await this.packWindow(db, { name, window });
    const { body } = this.#packer.pack(window, { dictionary: known.dictionary, deflate: true });
    return { body, dictionary: known };
  }

  /** The dictionary that the instance's windows are packed by, where it is at hand. */
  known(name: InstanceName): KnownDictionary | undefined {
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

/** The statements that store a dictionary of an instance, where the database may lack it. */
export function storingDictionary(
  { hash, body, isStored }: NewestDictionary,
  args: InstanceName & { received_ns: bigint },
): Statement[] {
  return isStored ? [] : [statement(STORE_DICTIONARY, { ...args, hash, body })];
}

const NEWEST_DICTIONARY = `/* find the newest dictionary */ SELECT d.hash, d.body
  FROM instances i JOIN dictionaries d ON d.instance = i.id
  WHERE i.project = :project AND i.instance_id = :instance_id ORDER BY d.id DESC LIMIT 1`;

const STORE_DICTIONARY = `INSERT INTO dictionaries (instance, hash, received_ns, body)
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
  const { rows: [row] } = await db.query(statement(NEWEST_DICTIONARY, { project, instance_id }));
  if (!row) return undefined;
  const [hash, body] = [row.hash, row.body].map((blob) => new Uint8Array(blob as ArrayBuffer));
  return knownAs(unpackDictionary(row.body as ArrayBuffer), { hash: hash!, body: body! }, true);
}

function knownAs(dictionary: Dictionary, stored: StoredDictionary, isStored: boolean): Known {
  return { ...stored, isStored, dictionary, missing: new Set(), repeatedMisses: 0 };
}

function noteMissing(known: Known, identities: Identities): void {
  if (known.missing.size > MAX_MISSING) known.missing.clear();
  for (const key of identityKeys(identities)) {
    if (known.missing.has(key)) known.repeatedMisses++;
    else known.missing.add(key);
  }
}

/** Whether repeated misses have cost as much as a new dictionary. */
function needsRebuild({ repeatedMisses, dictionary }: Known): boolean {
  return repeatedMisses > dictionary.size;
}

/** The dictionary with the identities of a window; without its old ones where few of them are used. */
function rebuilt(dictionary: Dictionary, window: Window): Dictionary {
  const alone = EMPTY_DICTIONARY.with(missingIn(EMPTY_DICTIONARY, window));
  if (dictionary.size > MAX_UNUSED * alone.size) return alone;
  return dictionary.with(missingIn(dictionary, window));
}
