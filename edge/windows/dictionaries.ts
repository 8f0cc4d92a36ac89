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

/** A dictionary with more identities than this multiple of a window's is replaced by a new one. */
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
  /** Whether the database is known to have it. */
  isStored: boolean;
}

/** A window as it is stored. */
export interface PackedWindow {
  body: Uint8Array<ArrayBuffer>;
  dictionary: NewestDictionary;
}

/** A dictionary in memory. */
export interface CachedDictionary extends NewestDictionary {
  dictionary: Dictionary;
}

interface CacheEntry extends CachedDictionary {
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
 * lacks are in the window itself, until they have cost as much as a new dictionary. Processes need not
 * agree: a dictionary is named by its content, and each window has the name of its dictionary.
 */
export class Dictionaries {
  readonly #cache = new Lru<string, CacheEntry>({
    max: MAX_IDENTITIES,
    weigh: ({ dictionary }) => dictionary.size,
  });
  readonly #packer = new WindowPacker();

  /** An uploaded window, packed; its identities may cause a new dictionary. */
  async packWindow(db: Database, { name, window }: WindowToPack): Promise<PackedWindow> {
    const cached = await this.#find(db, name);
    if (cached) {
      const { body, missing } = this.#packer.pack(window, {
        dictionary: cached.dictionary,
        deflate: false,
      });
      noteMissing(cached, missing);
      if (!needsRebuild(cached)) return { body, dictionary: cached };
    }
    const dictionary = rebuilt(cached?.dictionary ?? EMPTY_DICTIONARY, window);
    const next = cacheEntry(dictionary, packDictionary(dictionary), false);
    this.#cache.set(keyOf(name), next);
    return {
      body: this.#packer.pack(window, { dictionary, deflate: false }).body,
      dictionary: next,
    };
  }

  /** A roll-up, packed; rare identities, which no window's dictionary has, are in the roll-up itself. */
  async packRollup(db: Database, { name, window }: WindowToPack): Promise<PackedWindow> {
    const cached = await this.#find(db, name);
    if (!cached) return await this.packWindow(db, { name, window });
    const { body } = this.#packer.pack(window, { dictionary: cached.dictionary, deflate: true });
    return { body, dictionary: cached };
  }

  /** The dictionary of the instance's new windows, if it is cached. */
  cached(name: InstanceName): CachedDictionary | undefined {
    return this.#cache.get(keyOf(name));
  }

  async #find(db: Database, name: InstanceName): Promise<CacheEntry | undefined> {
    const cached = this.#cache.get(keyOf(name));
    if (cached) return cached;
    const newest = await newestOf(db, name);
    if (newest) this.#cache.set(keyOf(name), newest);
    return newest;
  }
}

/** The statements that store a dictionary of an instance, if the database may lack it. */
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
): Promise<CacheEntry | undefined> {
  const { rows: [row] } = await db.query(statement(NEWEST_DICTIONARY, { project, instance_id }));
  if (!row) return undefined;
  const [hash, body] = [row.hash, row.body].map((blob) => new Uint8Array(blob as ArrayBuffer));
  return cacheEntry(unpackDictionary(row.body as ArrayBuffer), { hash: hash!, body: body! }, true);
}

function cacheEntry(
  dictionary: Dictionary,
  stored: StoredDictionary,
  isStored: boolean,
): CacheEntry {
  return { ...stored, isStored, dictionary, missing: new Set(), repeatedMisses: 0 };
}

function noteMissing(cached: CacheEntry, identities: Identities): void {
  if (cached.missing.size > MAX_MISSING) cached.missing.clear();
  for (const key of identityKeys(identities)) {
    if (cached.missing.has(key)) cached.repeatedMisses++;
    else cached.missing.add(key);
  }
}

/** Whether repeated misses have cost as much as a new dictionary. */
function needsRebuild({ repeatedMisses, dictionary }: CacheEntry): boolean {
  return repeatedMisses > dictionary.size;
}

/** The dictionary with the identities of a window; without its old ones if few of them are used. */
function rebuilt(dictionary: Dictionary, window: Window): Dictionary {
  const alone = EMPTY_DICTIONARY.with(missingIn(EMPTY_DICTIONARY, window));
  if (dictionary.size > MAX_UNUSED * alone.size) return alone;
  return dictionary.with(missingIn(dictionary, window));
}
