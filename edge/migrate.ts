/** Brings all databases to the newest schema, before a new version serves from them. */

import { openDatabases } from "./database/databases.ts";
import { places } from "./tenancy/projects.ts";
import { readSettings } from "./settings.ts";

const { database_url: url, database_token: token } = readSettings(Deno.env);
{
  await using databases = await openDatabases({ url, token });
  for (const place of await places(databases.control)) {
    using _lease = await databases.lease(place);
  }
}
Deno.exit();
