/** Cache of keys, so that most requests need no look-up of their key. */

import { Lru } from "@service/core/lru";
import { SECOND_NS } from "@service/core/time";
import { type Database, statement } from "../database/database.ts";
import type { DatabaseLocation } from "../database/databases.ts";
import { isKey, prefixOf, type Scope } from "./keys.ts";
import { publicId } from "./projects.ts";
import { type Quotas, readQuotas } from "./quotas.ts";

/** A valid key, with its project. */
export interface ApiKey {
  prefix: string;
  name: string;
  scopes: Scope[];
  project: DatabaseLocation & {
    name: string;
    /** Its id for clients: the same for all its keys, and it tells nothing about the project. */
    public_id: string;
    quotas: Quotas;
  };
}

/** Time for which a key stays cached, even if it was revoked. */
export const CACHED_FOR_NS: bigint = 5n * SECOND_NS;

const MAX_CACHED = 10_000;

/** A look-up by prefix; `null`: there is no such key. */
interface LookUp {
  started_ns: bigint;
  key: Promise<StoredKey | null>;
}

interface StoredKey extends ApiKey {
  hash: ArrayBuffer;
  expires_ns: bigint | null;
}

/** Keys by their prefix, each looked up once in {@linkcode CACHED_FOR_NS}; notes when each was last used. */
export class KeyCache {
  readonly #db: Database;
  readonly #now_ns: () => bigint;
  readonly #lookUps = new Lru<string, LookUp>({ max: MAX_CACHED });
  readonly #used = new Map<string, bigint>();

  /** Of the keys in the database of projects and keys. */
  constructor(db: Database, now_ns: () => bigint) {
    this.#db = db;
    this.#now_ns = now_ns;
  }

  /** The key with the text `given`; `null` if it is not valid, revoked or expired. */
  async find(given: string): Promise<ApiKey | null> {
    const prefix = prefixOf(given);
    const stored = prefix === null ? null : await this.#lookUp(prefix);
    const now_ns = this.#now_ns();
    if (!isKey(given, stored?.hash ?? null) || !stored) return null;
    if (stored.expires_ns !== null && stored.expires_ns <= now_ns) return null;
    this.#used.set(stored.prefix, now_ns);
    return stored;
  }

  /** Removes all keys: each is looked up again at its next use. */
  forget(): void {
    this.#lookUps.clear();
  }

  /** Stores when the keys were last used. */
  async storeLastUse(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = [...this.#used];
    this.#used.clear();
    await this.#db.write(
      used.map(([prefix, now_ns]) => statement(SET_LAST_USE, { prefix, now_ns })),
    );
  }

  #lookUp(prefix: string): Promise<StoredKey | null> {
    const now_ns = this.#now_ns();
    const cached = this.#lookUps.get(prefix);
    const age_ns = cached ? now_ns - cached.started_ns : -1n;
    if (cached && age_ns >= 0n && age_ns < CACHED_FOR_NS) return cached.key;
    const key = findKey(this.#db, prefix);
    this.#lookUps.set(prefix, { started_ns: now_ns, key });
    // Prefixes without a key are not cached: guesses would evict keys.
    const drop = () => {
      if (this.#lookUps.get(prefix)?.key === key) this.#lookUps.delete(prefix);
    };
    key.then((found) => found ?? drop(), drop);
    return key;
  }
}

async function findKey(db: Database, prefix: string): Promise<StoredKey | null> {
  const { rows: [row] } = await db.query(statement(FIND, { prefix }));
  if (!row) return null;
  return {
    prefix,
    name: row.name as string,
    hash: row.hash as ArrayBuffer,
    scopes: (row.scope as string).split(",") as Scope[],
    expires_ns: row.expires_ns as bigint | null,
    project: {
      id: row.project as bigint,
      name: row.project_name as string,
      public_id: publicId(row.project as bigint, row.created_ns as bigint),
      database_url: row.database_url as string | null,
      quotas: readQuotas(row),
    },
  };
}

const FIND =
  `/* find the key */ SELECT k.name, k.hash, k.scope, k.expires_ns, k.project, p.name AS project_name,
    p.created_ns, p.database_url, p.max_instances, p.max_series, p.max_body_bytes
  FROM keys k JOIN projects p ON p.id = k.project
  WHERE k.prefix = :prefix AND k.revoked_ns IS NULL`;

const SET_LAST_USE =
  "UPDATE keys SET last_used_ns = max(coalesce(last_used_ns, 0), :now_ns) WHERE prefix = :prefix";
