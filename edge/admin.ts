/** Projects and keys of the hosted API: `deno task admin <command>`. */

import { parseArgs } from "node:util";
import { SECOND_NS } from "@service/core";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrations.ts";
import { createKey, listKeys, listProjects, revokeKey } from "./projects.ts";
import { readSettings } from "./settings.ts";

const USAGE = `Usage:
  admin create-key --project <name> [--name <key name>]   prints a new key, this once
  admin list-keys
  admin revoke-key <prefix>
  admin list-projects`;

/** Does one thing to the database and gives the exit code. */
type Command = (db: Database) => Promise<number>;

Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  let settings;
  let command: Command;
  try {
    command = parse(args);
    settings = readSettings(Deno.env);
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  try {
    using db = await openDatabase({ url: settings.database_url, token: settings.database_token });
    await migrate(db);
    return await command(db);
  } catch (error) {
    console.error(`Cannot use the database: ${(error as Error).message}`);
    return 1;
  }
}

function parse(args: string[]): Command {
  const { values: { project, name }, positionals: [command, ...rest] } = parseArgs({
    args,
    allowPositionals: true,
    options: { project: { type: "string" }, name: { type: "string" } },
  });
  const isCreate = command === "create-key";
  if (isCreate ? !project || name === "" : project !== undefined || name !== undefined) {
    throw new RangeError("Cannot run the command: create-key takes --project, and no other does");
  }
  if (rest.length !== (command === "revoke-key" ? 1 : 0)) {
    throw new RangeError("Cannot run the command: revoke-key takes one prefix, no other takes any");
  }
  switch (command) {
    case "create-key":
      return (db) => create(db, project!, name ?? "default");
    case "list-keys":
      return showKeys;
    case "revoke-key":
      return (db) => revoke(db, rest[0]!);
    case "list-projects":
      return showProjects;
    default:
      throw new RangeError(`Cannot run the command: got ${JSON.stringify(command ?? "")}`);
  }
}

async function create(db: Database, project: string, name: string): Promise<number> {
  console.log(await createKey(db, { project, name, now_ns: now_ns() }));
  return 0;
}

async function revoke(db: Database, prefix: string): Promise<number> {
  if (await revokeKey(db, prefix, now_ns())) return 0;
  console.error(`Cannot revoke the key: none starts with ${JSON.stringify(prefix)}; see list-keys`);
  return 1;
}

async function showKeys(db: Database): Promise<number> {
  for (const { prefix, project, name, created_ns, revoked_ns } of await listKeys(db)) {
    const state = revoked_ns === null ? "valid" : `revoked ${date(revoked_ns)}`;
    console.log([prefix, project, name, `created ${date(created_ns)}`, state].join("\t"));
  }
  return 0;
}

async function showProjects(db: Database): Promise<number> {
  for (const { name, created_ns, keys, instances } of await listProjects(db)) {
    const counts = `${keys} valid keys\t${instances} instances`;
    console.log([name, `created ${date(created_ns)}`, counts].join("\t"));
  }
  return 0;
}

function now_ns(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

function date(ns: bigint): string {
  return new Date(Number(ns / SECOND_NS) * 1000).toISOString().slice(0, 10);
}
