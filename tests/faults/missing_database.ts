/** A project without its database: the first process that needs it creates it. */

import { openDatabases } from "../../edge/database/databases.ts";
import { createKey } from "../../edge/tenancy/projects.ts";

/** Key of such a project, in the databases at `url`. */
export async function newKeyWithoutDatabase(url: string): Promise<string> {
  await using databases = await openDatabases({ url });
  return await createKey(databases.control, {
    project: "own",
    name: "laptop",
    now_ns: 1n,
    database_url: databases.defaultLocation,
  });
}
