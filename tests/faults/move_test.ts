/** Faults of a move: the process that moves a project is killed, and run again. */

import assert from "node:assert/strict";
import { newKey } from "../../edge/testing/api.ts";
import { temporaryFolder } from "../../edge/testing/each_storage.ts";
import { runScript, startProcess } from "../../edge/testing/process.ts";
import { openDatabases } from "../../edge/database/databases.ts";
import { createProject } from "../../edge/tenancy/projects.ts";
import { type DiskAction, faultyDisk, testOnFaultyDisk } from "./disk.ts";
import { Ledger, range } from "./ledger.ts";
import { nextChange } from "./table.ts";

const START = Math.floor(Date.now() / 1_000) - 1_003;
const WINDOWS = 14;
const KILLS: DiskAction[] = ["kill before", "kill after"];

const shortly = () => new Promise<void>((resolve) => setTimeout(resolve, 5));

testOnFaultyDisk(
  "a move that is killed at any change of a file is run again, and loses no window",
  async () => {
    for (let change = 1, isOver = false; !isOver; change = nextChange(change)) {
      using folder = temporaryFolder();
      await using disk = await faultyDisk(folder.path);
      const key = await newKeyIn(folder.url);
      await using api = await startProcess(folder.url);
      const ledger = new Ledger({ key, start: START, windows: WINDOWS });
      for (const i of range(0, WINDOWS / 2)) await ledger.deliver(api, i, shortly);

      const env = { SERVICE_DATABASE_URL: folder.url };
      const move = ["move-project", "own", "--to", `file:${folder.path}/elsewhere.db`];
      disk.arm(KILLS[change % 2]!, change);
      await runScript("./admin.ts", move, { ...env, ...disk.env });
      isOver = disk.left() > 0;
      await ledger.expectPrefix(api.url);
      assert.deepEqual(await runScript("./admin.ts", move, env), {
        code: 0,
        stdout: "",
        stderr: "",
      });

      for (const i of range(WINDOWS / 2, WINDOWS)) await ledger.deliver(api, i, shortly);
      await ledger.expectWhole(api.url);
    }
  },
);

/** A key of a new project that has a file of its own. */
async function newKeyIn(url: string): Promise<string> {
  await using databases = await openDatabases({ url });
  await createProject(databases, { name: "own", now_ns: 1n });
  return await newKey(databases.control, "own");
}
