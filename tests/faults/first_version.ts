/** A database as the first version left it, with windows of an instance. */

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { nsFromTs } from "@service/core/time";
import { openDatabase } from "../../edge/database/database.ts";
import { makeKey } from "../../edge/tenancy/keys.ts";
import { MIGRATIONS } from "../../edge/database/migrations.ts";
import { Ledger, range } from "./ledger.ts";

/** Which windows are there, and where. */
export interface FirstVersionOptions {
  url: string;
  start: number;
  /** How many the instance sends in all. */
  windows: number;
  /** How many of them are there. */
  stored: number;
}

/** Makes the database; gives the instance, which has more to send. */
export async function firstVersion(options: FirstVersionOptions): Promise<Ledger> {
  const { url, start, stored } = options;
  const { key, prefix, hash } = makeKey();
  const ledger = new Ledger({ ...options, key });
  using db = await openDatabase({ url });
  const end_ns = nsFromTs(start + 10 * stored);
  await db.write([
    "CREATE TABLE schema (version INTEGER PRIMARY KEY) STRICT",
    "INSERT INTO schema VALUES (1)",
    ...MIGRATIONS[0]!,
    "INSERT INTO projects VALUES (1, 'old', 1)",
    { sql: "INSERT INTO keys VALUES (5, 1, 'laptop', ?, ?, 1, NULL)", args: [prefix, hash] },
    {
      sql: "INSERT INTO instances VALUES (3, 1, ?, 5, '{}', '{}', '0', ?, ?, NULL, ?, ?)",
      args: [ledger.instance_id, nsFromTs(start), end_ns, end_ns, end_ns],
    },
  ]);
  await db.write(
    range(0, stored).map((i) => {
      ledger.adopt(i);
      const body = ledger.body(i);
      const from_ns = nsFromTs(start + 10 * i);
      const digest = createHash("sha256").update(body).digest();
      return {
        sql: "INSERT INTO windows VALUES (NULL, 3, ?, ?, ?, ?, NULL, 0)",
        args: [
          from_ns,
          from_ns + nsFromTs(10),
          new Uint8Array(digest),
          new Uint8Array(gzipSync(body)),
        ],
      };
    }),
  );
  return ledger;
}
