/** Faults of the disk under a SQLite file. */

import { type ServerProcess, startProcess } from "../../edge/testing/process.ts";
import { temporaryFolder } from "../../edge/testing/each_storage.ts";
import { newKey } from "../../edge/testing/api.ts";
import { openDatabases } from "../../edge/database/databases.ts";
import { createProject } from "../../edge/tenancy/projects.ts";
import {
  type DiskAction,
  type FaultyDisk,
  faultyDisk,
  fillAtEachChange,
  testOnFaultyDisk,
} from "./disk.ts";
import { newKeyWithoutDatabase } from "./missing_database.ts";
import { Ledger, range, WITHOUT_RATE_LIMIT } from "./ledger.ts";
import { nextChange } from "./table.ts";

const START = Math.floor(Date.now() / 1_000) - 1_003;
const WINDOWS = 14;
const KILLS: DiskAction[] = ["kill before", "kill after"];

/** An API on a file, killed by faults of its disk. */
class OnFile implements AsyncDisposable {
  #api: ServerProcess | undefined;
  constructor(readonly file: string, readonly env: Record<string, string>) {}
  get url(): string {
    return this.#api?.url ?? "http://127.0.0.1:1";
  }
  revive = async (): Promise<void> => {
    if (this.#api) return;
    const env = { ...WITHOUT_RATE_LIMIT, ...this.env };
    const api = await startProcess(this.file, { env }).catch(() => undefined);
    this.#api = api;
    api?.ended.then(() => this.#api = undefined);
  };
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#api?.[Symbol.asyncDispose]();
  }
}

testOnFaultyDisk(
  "an API that is killed at any change of its file loses no window and stores none twice",
  async () => {
    await onFaultyDisk(async (api, disk, newLedger) => {
      for (let change = 1, isOver = false; !isOver; change = nextChange(change)) {
        const ledger = newLedger();
        disk.arm(KILLS[change % 2]!, change);
        for (const i of range(0, WINDOWS)) {
          await ledger.deliver(api, i, api.revive);
          await ledger.expectPrefix(api.url);
        }
        isOver = disk.left() > 0;
        await ledger.expectWhole(api.url);
      }
    });
  },
);

testOnFaultyDisk(
  "an API with a full disk answers reads, stores nothing, and continues afterwards",
  async () => {
    await onFaultyDisk(fillAtEachChange);
  },
);

testOnFaultyDisk(
  "an API that is killed at any change while it creates a database continues with it",
  async () => {
    for (let change = 1, isOver = false; !isOver; change = nextChange(change)) {
      using folder = temporaryFolder();
      await using disk = await faultyDisk(folder.path);
      const key = await newKeyWithoutDatabase(folder.url);
      const ledger = new Ledger({ key, start: START, windows: WINDOWS });
      await using api = new OnFile(folder.url, disk.env);
      disk.arm(KILLS[change % 2]!, change);
      await api.revive();
      await ledger.deliver(api, 0, api.revive);
      isOver = disk.left() > 0;
      await ledger.expectPrefix(api.url);
      for (const i of range(1, WINDOWS)) await ledger.deliver(api, i, api.revive);
      await ledger.expectWhole(api.url);
    }
  },
);

/** Runs a test of an API on a file of a faulty disk. */
async function onFaultyDisk(
  test: (api: OnFile, disk: FaultyDisk, newLedger: () => Ledger) => Promise<void>,
): Promise<void> {
  using folder = temporaryFolder();
  await using disk = await faultyDisk(folder.path);
  await using api = new OnFile(folder.url, disk.env);
  const key = await newKeyIn(folder.url);
  await api.revive();
  await test(api, disk, () => new Ledger({ key, start: START, windows: WINDOWS }));
}

/** Key of a new project with its own file. */
async function newKeyIn(url: string): Promise<string> {
  await using databases = await openDatabases({ url });
  await createProject(databases, { name: "own", now_ns: 1n });
  return await newKey(databases.control, "own");
}
