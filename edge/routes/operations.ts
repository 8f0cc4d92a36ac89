/** The table of the operator's operations on projects and keys. */

import { MAX_UPLOAD_BYTES } from "@service/core/limits";
import { refuse } from "@service/core/problem";
import {
  flag,
  integer,
  list,
  nanoseconds,
  nullable,
  object,
  oneOf,
  type Shape,
  text,
} from "@service/core/schema";
import { SECOND_NS } from "@service/core/time";
import { moveProject } from "../move/move.ts";
import { DURATION, durationNs } from "../tenancy/duration.ts";
import { SCOPES } from "../tenancy/keys.ts";
import {
  createKey,
  createProject,
  type ListedKey,
  type ListedProject,
  listKeys,
  listProjects,
  revokeKey,
  rotateKey,
  setQuotas,
} from "../tenancy/projects.ts";
import { field, type Operation, operation, optional, type Target } from "./operation.ts";

const PROJECT: Target = {
  name: "name",
  description: "Name of the project.",
  missing: "There is no such project.",
};
const KEY: Target = {
  name: "prefix",
  description: "The start of the key, svc_ and eight digits.",
  missing: "There is no such key, or it is not valid any more.",
};

const name = field(text({ min: 1, max: 256 }), "<name>");
const scope = oneOf(...SCOPES);
const duration = field(text({ pattern: DURATION }), "24h", { parse: expectDuration });
const DATABASE = "beside|(?:file|libsql|https?|wss?):.+";
const database = field(
  nullable(text({ max: 4_096, pattern: DATABASE })),
  "<url>|beside|control",
  { parse: parseDatabase },
);
const count = nullable(integer(0));
const bytes = nullable(integer(0, MAX_UPLOAD_BYTES));
const quota = (shape: Shape<number | null>) =>
  optional(field(shape, "<n>|default", { parse: parseQuota }));

const keyShape = object<ListedKey>({
  prefix: text(),
  name: text(),
  project: text(),
  scopes: list(scope, { min: 1, max: 2 }),
  created_ns: nanoseconds,
  expires_ns: nullable(nanoseconds),
  last_used_ns: nullable(nanoseconds),
  revoked_ns: nullable(nanoseconds),
});

const projectShape = object<ListedProject>({
  name: text(),
  created_ns: nanoseconds,
  database: text(),
  keys: integer(0),
  instances: count,
  max_instances: count,
  max_series: count,
  max_body_bytes: bytes,
});

const createdKey = object<{ key: string }>({ key: text() });

/** All operations. */
export const operations: readonly Operation[] = [
  operation({
    command: "list-projects",
    method: "GET",
    path: "projects",
    summary: "Lists the projects",
    answer: object<{ projects: ListedProject[] }>({ projects: list(projectShape) }),
    run: async ({ databases, now_ns }) => ({ projects: await listProjects(databases, now_ns()) }),
    lines: ({ projects }) => projects.map(projectLine),
  }),
  operation({
    command: "create-project",
    method: "POST",
    path: "projects",
    summary: "Creates a project and its database",
    description: "Its rows go to the database at a URL, to a file of its own (beside), or to the " +
      "database of the keys (null; in a command, control).",
    fields: { name, database_url: optional(database) },
    answer: object<{ created: boolean }>({ created: flag }),
    run: async ({ databases, now_ns }, { values }) => ({
      created: await createProject(databases, { ...values, now_ns: now_ns() }),
    }),
    lines({ created }, { input }) {
      if (created) return [];
      const named = JSON.stringify(input.values.name);
      throw new RangeError(`Cannot create the project: there is one named ${named}`);
    },
  }),
  operation({
    command: "set-quotas",
    method: "PATCH",
    path: "projects/{name}",
    summary: "Sets quotas of a project",
    description: "null (in a command, default) sets the service's default.",
    target: { ...PROJECT, flag: "project" },
    fields: { max_instances: quota(count), max_series: quota(count), max_body_bytes: quota(bytes) },
    answer: object<{ changed: boolean }>({ changed: flag }),
    async run({ databases: { control } }, { target, values }) {
      await setQuotas(control, target, values);
      return { changed: true };
    },
  }),
  operation({
    command: "move-project",
    method: "POST",
    path: "projects/{name}/move",
    summary: "Moves a project to another database",
    description: "Returns when the copy is complete; uploads get 503 meanwhile.",
    target: PROJECT,
    fields: { to: database },
    answer: object<{ moved: boolean }>({ moved: flag }),
    async run({ databases }, { target, values: { to } }) {
      await moveProject(databases, { project: target, to });
      return { moved: true };
    },
  }),
  operation({
    command: "list-keys",
    method: "GET",
    path: "keys",
    summary: "Lists the keys, without their secrets",
    answer: object<{ keys: ListedKey[] }>({ keys: list(keyShape) }),
    run: async ({ databases: { control } }) => ({ keys: await listKeys(control) }),
    lines: ({ keys }, { now_ns }) => keys.map((key) => keyLine(key, now_ns)),
  }),
  operation({
    command: "create-key",
    method: "POST",
    path: "keys",
    summary: "Creates a key, and its project where there is none",
    description: "The key is in this answer alone.",
    fields: {
      project: name,
      name: optional(name),
      scopes: optional(field(list(scope, { min: 1, max: 2 }), "read|write", {
        flag: "scope",
        parse: (text) => [text],
      })),
      expires_in: optional({ ...duration, flag: "expires" }),
    },
    answer: createdKey,
    async run({ databases, now_ns }, { values }) {
      const { project, name = "default", scopes, expires_in } = values;
      const now = now_ns();
      const expires_ns = expires_in === undefined ? null : now + durationNs(expires_in);
      await createProject(databases, { name: project, now_ns: now });
      const options = { project, name, scopes, expires_ns, now_ns: now };
      return { key: await createKey(databases.control, options) };
    },
    lines: ({ key }) => [key],
  }),
  operation({
    command: "rotate-key",
    method: "POST",
    path: "keys/{prefix}/rotate",
    summary: "Creates a key like another, which expires after the overlap",
    description: "The new key is in this answer alone.",
    target: KEY,
    fields: { overlap: duration },
    answer: createdKey,
    async run({ databases: { control }, now_ns }, { target, values: { overlap } }) {
      const options = { prefix: target, overlap_ns: durationNs(overlap), now_ns: now_ns() };
      const key = await rotateKey(control, options);
      if (key === null) throw keyNotFound("rotate", target);
      return { key };
    },
    lines: ({ key }) => [key],
  }),
  operation({
    command: "revoke-key",
    method: "DELETE",
    path: "keys/{prefix}",
    summary: "Revokes a key",
    target: KEY,
    answer: object<{ revoked: boolean }>({ revoked: flag }),
    async run({ databases: { control }, now_ns }, { target }) {
      if (!await revokeKey(control, target, now_ns())) throw keyNotFound("revoke", target);
      return { revoked: true };
    },
  }),
];

function keyNotFound(verb: string, prefix: string) {
  const none = `none that is valid starts with ${JSON.stringify(prefix)}`;
  const message = "is that of no valid key";
  return refuse(404, `Cannot ${verb} the key: ${none}; see the list of keys`, [
    { parameter: "prefix", message },
  ]);
}

function expectDuration(text: string): string {
  durationNs(text);
  return text;
}

function parseDatabase(text: string): string | null {
  if (text === "control") return null;
  if (new RegExp(`^(?:${DATABASE})$`).test(text)) return text;
  const allowed = "a URL (file:, libsql:, http:, https:, ws: or wss:), beside or control";
  throw new RangeError(`must be ${allowed}: got ${JSON.stringify(text)}`);
}

function parseQuota(text: string): number | null {
  if (text === "default") return null;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new RangeError(`must be a whole number, or default: got ${JSON.stringify(text)}`);
}

function projectLine({ name, created_ns, keys, instances, database }: ListedProject): string {
  const counts = [`${keys} valid keys`, `${instances ?? "?"} instances`];
  return [name, `created ${date(created_ns)}`, ...counts, database].join("\t");
}

function keyLine(key: ListedKey, now_ns: bigint): string {
  const { prefix, project, name, scopes, created_ns, last_used_ns, revoked_ns, expires_ns } = key;
  let state = expires_ns === null ? "valid" : `valid until ${date(expires_ns)}`;
  if (expires_ns !== null && expires_ns <= now_ns) state = `expired ${date(expires_ns)}`;
  if (revoked_ns !== null) state = `revoked ${date(revoked_ns)}`;
  const used = last_used_ns === null ? "never used" : `used ${date(last_used_ns)}`;
  const created = `created ${date(created_ns)}`;
  return [prefix, project, name, scopes.join(), created, used, state].join("\t");
}

function date(ns: bigint): string {
  return new Date(Number(ns / SECOND_NS) * 1000).toISOString().slice(0, 10);
}
