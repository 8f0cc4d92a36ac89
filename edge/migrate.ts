/** Migrates all databases to the newest schema: run before a new version is deployed. */

import { openDatabases, sentence } from "./database/databases.ts";
import { listDatabases } from "./tenancy/projects.ts";
import { readSettings } from "./settings.ts";

Deno.exit(await main());

/** The exit code: 1 if a database could not be migrated; the others are. */
async function main(): Promise<number> {
  const { database_url: url, database_token: token } = readSettings(Deno.env);
  let code = 0;
  try {
    await using databases = await openDatabases({ url, token });
    for (const location of await listDatabases(databases.control)) {
      try {
        using _lease = await databases.lease(location);
      } catch (error) {
        console.error(`${sentence(error)} (project ${location.id})`);
        code = 1;
      }
    }
  } catch (error) {
    console.error(sentence(error));
    code = 1;
  }
  return code;
}
