/** A project whose database is not there yet: the first process that needs it makes it. */

import { openDatabases } from "../../edge/database/databases.ts";
import { createKey } from "../../edge/tenancy/projects.ts";

/** A key of such a project, by the databases at `url`. */
export async function newKeyWithoutDatabase(url: string): Promise<string> {
  await using databases = await openDatabases({ url });
  return await createKey(databases.control, {
    project: "own",
    name: "laptop",
    now_ns: 1n,
    database_url: databases.defaultLocation,
  });
}
