/** Authentication: keys of clients in `X-API-Key`, the operator's token in `Authorization`. */

import { refuse, retryAfter } from "@service/core/problem";
import type { Database } from "../database/database.ts";
import type { ApiKey } from "../tenancy/key_cache.ts";
import { isSecret, type Scope } from "../tenancy/keys.ts";
import type { RequestContext, Service } from "./context.ts";
import { pathNotFound } from "./problem.ts";
import type { RateLimit } from "./rate_limit.ts";

/** The authenticated client, with a lease on its project's database. */
export interface Client extends Disposable {
  key: ApiKey;
  project: ApiKey["project"];
  /** The database with the project's rows. */
  db: Database;
}

/**
 * The client that holds the key of the header `X-API-Key`.
 *
 * @throws {Refusal} 401, the same for every fault of the key; 403 if the key lacks the scope; 429 if it
 * was used too often.
 */
export async function authenticate(
  c: RequestContext,
  { databases, keys, limits, metrics }: Service,
  scope: Scope,
): Promise<Client> {
  const key = await keys.find(c.req.header("x-api-key") ?? "");
  if (!key) throw refuse(401, "Unauthorized: X-API-Key is missing or not valid");
  const facts = c.get("facts");
  facts.key = key.prefix;
  if (!key.scopes.includes(scope)) {
    const message = `lacks the scope ${scope}: it has ${key.scopes.join()}`;
    throw refuse(403, `Cannot ${scope}: the key ${key.prefix} ${message}`, [
      { parameter: "X-API-Key", message },
    ]);
  }
  spend(limits[scope], key, scope);
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

/**
 * Refuses a request without the admin token.
 *
 * @throws {Refusal} 401; 404 for a route that is hidden.
 */
export function expectOperator(
  c: RequestContext,
  { admin_token }: Service,
  { isHidden }: { isHidden: boolean },
): void {
  const given = c.req.header("authorization") ?? "";
  if (admin_token !== undefined && isSecret(given, `Bearer ${admin_token}`)) return;
  if (isHidden) throw pathNotFound();
  throw refuse(401, "Unauthorized: Authorization must be Bearer and the admin token");
}

function spend(limit: RateLimit, { prefix }: ApiKey, scope: Scope): void {
  const seconds = limit.spend(prefix);
  if (seconds === 0) return;
  const allowed = `${limit.per_second} ${scope}s a second, ${limit.burst} at once`;
  throw retryAfter(
    seconds,
    refuse(429, `Cannot ${scope} now: the key may do ${allowed}; try again in ${seconds} s`),
  );
}
