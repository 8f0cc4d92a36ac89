/** Projects and keys of the hosted API: `deno task admin <command>`. */

import { parseArgs } from "node:util";
import { SECOND_NS } from "@service/core/time";
import { type Databases, openDatabases } from "./database/databases.ts";
import { durationNs } from "./tenancy/duration.ts";
import type { Quotas } from "./tenancy/key_cache.ts";
import type { Scope } from "./tenancy/keys.ts";
import { moveProject } from "./move/move.ts";
import {
  createKey,
  createProject,
  listKeys,
  listProjects,
  revokeKey,
  rotateKey,
  SCOPES,
  setQuotas,
} from "./tenancy/projects.ts";
import { clock } from "./service.ts";
import { placeOf, readSettings } from "./settings.ts";

const USAGE = `Usage:
  admin create-project --name <name> [--database-url <url>]
  admin list-projects
  admin set-quotas --project <name> [--max-instances <n>] [--max-series <n>] [--max-body-bytes <n>]
                                                          "default": what the service allows
  admin move-project <name> --to <url>                    or "beside", "control": a file, the keys'
  admin create-key --project <name> [--name <key name>] [--scope read|write] [--expires 90d]
                                                          prints a new key, this once
  admin rotate-key <prefix> --overlap <24h>               the same
  admin list-keys
  admin revoke-key <prefix>`;

/** What a command is given. */
interface Given {
  /** Flags, those that must be there included. */
  [flag: string]: string;
}

/** One thing that is done to the databases; gives the exit code. */
interface Command {
  /** What stands behind the command. */
  operand?: string;
  required?: string[];
  optional?: string[];
  run: (databases: Databases, given: Given) => Promise<number>;
}

const QUOTAS = ["max-instances", "max-series", "max-body-bytes"];

const COMMANDS: Record<string, Command> = {
  "create-project": { required: ["name"], optional: ["database-url"], run: newProject },
  "list-projects": { run: showProjects },
  "set-quotas": { required: ["project"], optional: QUOTAS, run: limit },
  "move-project": { operand: "name", required: ["to"], run: move },
  "create-key": { required: ["project"], optional: ["name", "scope", "expires"], run: newKey },
  "rotate-key": { operand: "prefix", required: ["overlap"], run: rotate },
  "list-keys": { run: showKeys },
  "revoke-key": { operand: "prefix", run: revoke },
};

/** What a flag must hold, where not any text. */
const CHECKS: Record<string, (value: string) => unknown> = {
  to: placeOf,
  "database-url": placeOf,
  overlap: durationNs,
  expires: durationNs,
  scope: scopeOf,
  ...Object.fromEntries(QUOTAS.map((flag) => [flag, quotaOf])),
};

Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  let settings;
  let command: Command;
  let given: Given;
  try {
    ({ command, given } = parse(args));
    settings = readSettings(Deno.env);
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  try {
    await using databases = await openDatabases({
      url: settings.database_url,
      token: settings.database_token,
    });
    return await command.run(databases, given);
  } catch (error) {
    const { message } = error as Error;
    console.error(error instanceof RangeError ? message : `Cannot use the database: ${message}`);
    return 1;
  }
}

function parse(args: string[]): { command: Command; given: Given } {
  const [name = "", ...rest] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name]! : undefined;
  if (!command) throw new RangeError(`Cannot run the command: got ${JSON.stringify(name)}`);
  const { operand, required = [], optional = [] } = command;
  const { values, positionals } = parseArgs({
    args: rest,
    allowPositionals: true,
    options: Object.fromEntries(
      [...required, ...optional].map((flag) => [flag, { type: "string" as const }]),
    ),
  });
  if (positionals.length !== (operand ? 1 : 0)) {
    throw new RangeError(
      `Cannot run ${name}: it takes ${operand ? `one ${operand}` : "flags only"}`,
    );
  }
  const given = { ...values, ...(operand && { [operand]: positionals[0] }) } as Given;
  for (const flag of required) {
    if (given[flag] === undefined) throw new RangeError(`Cannot run ${name}: --${flag} is missing`);
  }
  for (const [flag, value] of Object.entries(given)) {
    if (value === "") throw new RangeError(`Cannot run ${name}: ${flag} must not be empty`);
    CHECKS[flag]?.(value);
  }
  return { command, given };
}

async function newProject(databases: Databases, given: Given): Promise<number> {
  const url = given["database-url"];
  const place = url === undefined ? {} : { database_url: placeOf(url) };
  if (await createProject(databases, { name: given.name!, now_ns: clock(), ...place })) return 0;
  console.error(`Cannot create the project: there is one named ${JSON.stringify(given.name)}`);
  return 1;
}

async function limit({ control }: Databases, { project, ...given }: Given): Promise<number> {
  const quotas = Object.entries(given).map(([flag, value]) => [
    flag.replaceAll("-", "_"),
    quotaOf(value),
  ]);
  await setQuotas(control, project!, Object.fromEntries(quotas) as Partial<Quotas>);
  return 0;
}

async function move(databases: Databases, { name, to }: Given): Promise<number> {
  await moveProject(databases, { project: name!, to: placeOf(to!) });
  return 0;
}

async function newKey(databases: Databases, given: Given): Promise<number> {
  const { project, name = "default", scope, expires } = given;
  const now_ns = clock();
  await createProject(databases, { name: project!, now_ns });
  console.log(
    await createKey(databases.control, {
      project: project!,
      name,
      now_ns,
      scopes: scope === undefined ? SCOPES : [scopeOf(scope)],
      expires_ns: expires === undefined ? null : now_ns + durationNs(expires),
    }),
  );
  return 0;
}

async function rotate({ control }: Databases, { prefix, overlap }: Given): Promise<number> {
  const overlap_ns = durationNs(overlap!);
  const key = await rotateKey(control, { prefix: prefix!, overlap_ns, now_ns: clock() });
  if (key === null) return noKey("rotate", prefix!);
  console.log(key);
  return 0;
}

async function revoke({ control }: Databases, { prefix }: Given): Promise<number> {
  return await revokeKey(control, prefix!, clock()) ? 0 : noKey("revoke", prefix!);
}

async function showKeys({ control }: Databases): Promise<number> {
  const now_ns = clock();
  for (const key of await listKeys(control)) {
    const { prefix, project, name, scopes, created_ns, last_used_ns, revoked_ns, expires_ns } = key;
    let state = expires_ns === null ? "valid" : `valid until ${date(expires_ns)}`;
    if (expires_ns !== null && expires_ns <= now_ns) state = `expired ${date(expires_ns)}`;
    if (revoked_ns !== null) state = `revoked ${date(revoked_ns)}`;
    const used = last_used_ns === null ? "never used" : `used ${date(last_used_ns)}`;
    const created = `created ${date(created_ns)}`;
    console.log([prefix, project, name, scopes.join(), created, used, state].join("\t"));
  }
  return 0;
}

async function showProjects(databases: Databases): Promise<number> {
  for (const project of await listProjects(databases, clock())) {
    const { name, created_ns, keys, instances, database } = project;
    const counts = [`${keys} valid keys`, `${instances ?? "?"} instances`];
    console.log([name, `created ${date(created_ns)}`, ...counts, database].join("\t"));
  }
  return 0;
}

function noKey(verb: string, prefix: string): number {
  const none = `none that is valid starts with ${JSON.stringify(prefix)}`;
  console.error(`Cannot ${verb} the key: ${none}; see list-keys`);
  return 1;
}

function scopeOf(text: string): Scope {
  const scope = SCOPES.find((one) => one === text);
  if (!scope) throw new RangeError(`Cannot use the scope: must be read or write: got ${text}`);
  return scope;
}

function quotaOf(text: string): number | null {
  if (text === "default") return null;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new RangeError(`Cannot use the quota: must be a whole number or default: got ${text}`);
}

function date(ns: bigint): string {
  return new Date(Number(ns / SECOND_NS) * 1000).toISOString().slice(0, 10);
}
