/** Migrates all databases to the newest schema: run before a new version is deployed. */

import { openDatabases } from "./database/databases.ts";
import { listDatabases } from "./tenancy/projects.ts";
import { readSettings } from "./settings.ts";

const { database_url: url, database_token: token } = readSettings(Deno.env);
{
  await using databases = await openDatabases({ url, token });
  for (const location of await listDatabases(databases.control)) {
    using _lease = await databases.lease(location);
  }
}
Deno.exit();
