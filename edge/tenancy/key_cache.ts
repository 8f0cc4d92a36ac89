import { Lru } from "@service/core/lru";
import { SECOND_NS } from "@service/core/time";
import { type Database, statement } from "../database/database.ts";
import type { Place } from "../database/databases.ts";
import { isKey, prefixOf, type Scope } from "./keys.ts";
import { type Quotas, readQuotas } from "./quotas.ts";

/** A key that may be used, with its project. */
export interface KnownKey {
  prefix: string;
  name: string;
  scopes: Scope[];
  project: Place & { name: string; quotas: Quotas };
}

/** A key stays known for so long after it was looked up: revoked keys and moved projects included. */
export const KNOWN_FOR_NS: bigint = 5n * SECOND_NS;

const MAX_KNOWN = 10_000;

interface Known {
  since_ns: bigint;
  found: Promise<StoredKey | null>;
}

interface StoredKey extends KnownKey {
  hash: ArrayBuffer;
  expires_ns: bigint | null;
}

/** Keys by their prefix, each looked up once in {@linkcode KNOWN_FOR_NS}; knows when each was last used. */
export class KeyCache {
  readonly #db: Database;
  readonly #now_ns: () => bigint;
  readonly #known = new Lru<string, Known>({ max: MAX_KNOWN });
  readonly #used = new Map<string, bigint>();

  /** Over the database of projects and keys. */
  constructor(db: Database, now_ns: () => bigint) {
    this.#db = db;
    this.#now_ns = now_ns;
  }

  /** What is known of a key; `null` for what is none, or is revoked or expired. */
  async find(given: string): Promise<KnownKey | null> {
    const prefix = prefixOf(given);
    const stored = prefix === null ? null : await this.#lookUp(prefix);
    const now_ns = this.#now_ns();
    if (!isKey(given, stored?.hash ?? null) || !stored) return null;
    if (stored.expires_ns !== null && stored.expires_ns <= now_ns) return null;
    this.#used.set(stored.prefix, now_ns);
    return stored;
  }

  /** Looks up every key again when it is next used. */
  forget(): void {
    this.#known.clear();
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
    const known = this.#known.get(prefix);
    const age_ns = known ? now_ns - known.since_ns : -1n;
    if (known && age_ns >= 0n && age_ns < KNOWN_FOR_NS) return known.found;
    const found = findKey(this.#db, prefix);
    this.#known.set(prefix, { since_ns: now_ns, found });
    // Only what was found is kept: guesses leave nothing behind.
    const drop = () => {
      if (this.#known.get(prefix)?.found === found) this.#known.delete(prefix);
    };
    found.then((key) => key ?? drop(), drop);
    return found;
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
      database_url: row.database_url as string | null,
      quotas: readQuotas(row),
    },
  };
}

const FIND =
  `/* find the key */ SELECT k.name, k.hash, k.scope, k.expires_ns, k.project, p.name AS project_name,
    p.database_url, p.max_instances, p.max_series, p.max_body_bytes
  FROM keys k JOIN projects p ON p.id = k.project
  WHERE k.prefix = :prefix AND k.revoked_ns IS NULL`;

const SET_LAST_USE =
  "UPDATE keys SET last_used_ns = max(coalesce(last_used_ns, 0), :now_ns) WHERE prefix = :prefix";
