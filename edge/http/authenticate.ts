import { refuse, retryAfter } from "@service/core/problem";
import type { Database } from "../database/database.ts";
import type { RequestContext, Service } from "./respond.ts";
import type { KnownKey } from "../tenancy/key_cache.ts";
import type { Scope } from "../tenancy/keys.ts";
import type { RateLimit } from "./rate_limit.ts";

/** Who asks; its project's database stays open until this is disposed. */
export interface Caller extends Disposable {
  key: KnownKey;
  project: KnownKey["project"];
  /** The database with the project's rows. */
  db: Database;
}

/**
 * Who holds the key of the header `X-API-Key`.
 *
 * @throws {Refusal} 401, the same one whatever is wrong with the key; 403 where it does not allow
 * this; 429 where it was used too often.
 */
export async function authenticate(
  c: RequestContext,
  { databases, keys, limits, metrics }: Service,
  scope: Scope,
): Promise<Caller> {
  const key = await keys.find(c.req.header("x-api-key") ?? "");
  if (!key) throw refuse(401, "Cannot tell who asks: the header X-API-Key must hold a valid key");
  const facts = c.get("facts");
  facts.key = key.prefix;
  if (!key.scopes.includes(scope)) {
    const message = `lacks the scope ${scope}: it has ${key.scopes.join()}`;
    throw refuse(403, `Cannot ${scope}: the key ${key.prefix} ${message}`, [
      { parameter: "X-API-Key", message },
    ]);
  }
  take(limits[scope], key, scope);
  const db = await databases.lease(key.project);
  return {
    key,
    project: key.project,
    db,
    [Symbol.dispose]() {
      facts.rows += db.rows;
      metrics.rows += db.rows;
      db[Symbol.dispose]();
    },
  };
}

function take(limit: RateLimit, { prefix }: KnownKey, scope: Scope): void {
  const seconds = limit.take(prefix);
  if (seconds === 0) return;
  const allowed = `${limit.per_second} ${scope}s a second, ${limit.burst} at once`;
  throw retryAfter(
    seconds,
    refuse(429, `Cannot ${scope} now: the key may do ${allowed}; try again in ${seconds} s`),
  );
}
