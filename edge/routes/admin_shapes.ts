/** Bodies of the operator's routes, both ways. */

import type { Shape } from "@service/core";
import { MAX_UPLOAD_BYTES } from "@service/core/limits";
import {
  flag,
  list,
  nanoseconds,
  nullable,
  object,
  oneOf,
  text,
  whole,
} from "@service/core/schema";
import { DURATION } from "../tenancy/duration.ts";
import type { Quotas } from "../tenancy/key_cache.ts";
import type { Scope } from "../tenancy/keys.ts";
import type { ListedKey } from "../tenancy/projects.ts";

const projectName = text({ min: 1, max: 256 });
const keyName = text({ min: 1, max: 256 });
const scopes = list(oneOf<Scope>("read", "write"), { min: 1, max: 2 });
const duration = text({ pattern: DURATION });
const databaseUrl = nullable(text({
  max: 4_096,
  pattern: "beside|(?:file|libsql|https?|wss?):.+",
}));
const quotas = {
  max_instances: nullable(whole(0)),
  max_series: nullable(whole(0)),
  max_body_bytes: nullable(whole(0, MAX_UPLOAD_BYTES)),
};

/** A project to make. */
export const newProjectBody: Shape<{ name: string; database_url?: string | null }> = object<
  { name: string; database_url?: string | null }
>({ name: projectName, database_url: databaseUrl }, ["database_url"]);

/** Quotas to set; `null`: the service's default. */
export const quotasBody: Shape<Partial<Quotas>> = object<Partial<Quotas>>(
  quotas,
  ["max_instances", "max_series", "max_body_bytes"],
);

/** Where a project goes. */
export const moveBody: Shape<{ to: string | null }> = object<{ to: string | null }>({
  to: databaseUrl,
});

/** A key to make. */
export interface NewKeyBody {
  project: string;
  name?: string;
  scopes?: Scope[];
  expires_in?: string;
}

/** A key to make. */
export const newKeyBody: Shape<NewKeyBody> = object<NewKeyBody>(
  { project: projectName, name: keyName, scopes, expires_in: duration },
  ["name", "scopes", "expires_in"],
);

/** How a key is replaced. */
export const rotationBody: Shape<{ overlap: string }> = object<{ overlap: string }>({
  overlap: duration,
});

/** A key that was made. */
export const madeKey: Shape<{ key: string }> = object<{ key: string }>({ key: text() });

/** Whether something was done. */
export function done<Name extends string>(name: Name): Shape<Record<Name, boolean>> {
  return object({ [name]: flag } as never) as Shape<Record<Name, boolean>>;
}

/** All keys. */
export const listOfKeys: Shape<{ keys: ListedKey[] }> = object<{ keys: ListedKey[] }>({
  keys: list(object<ListedKey>({
    prefix: text(),
    name: text(),
    project: text(),
    scopes,
    created_ns: nanoseconds,
    expires_ns: nullable(nanoseconds),
    last_used_ns: nullable(nanoseconds),
    revoked_ns: nullable(nanoseconds),
  })),
});

/** A project, with counts as numbers. */
export interface ProjectBody extends Quotas {
  name: string;
  created_ns: bigint;
  database: string;
  keys: number;
  instances: number | null;
}

/** All projects. */
export const listOfProjects: Shape<{ projects: ProjectBody[] }> = object<
  { projects: ProjectBody[] }
>({
  projects: list(object<ProjectBody>({
    name: text(),
    created_ns: nanoseconds,
    database: text(),
    keys: whole(0),
    instances: nullable(whole(0)),
    ...quotas,
  })),
});
