/** Runs in memory: only windows that are new to a process are sent to it, and reads stay right. */

import assert from "node:assert/strict";
import { newInstanceId, NOW_TS, read, send, type TestService, work } from "../testing/api.ts";
import { isOnFile, testOnEachStorage } from "../testing/each_storage.ts";
import { createMemory } from "./memory.ts";

/** A whole minute. */
const START = NOW_TS - NOW_TS % 60;

/** Sends windows of ten seconds; each adds a number of its own. */
async function sendSome(service: TestService, instance_id: string, [from, to]: [number, number]) {
  for (let i = from; i < to; i++) {
    const [start, end] = [START + 10 * i, START + 10 * i + 10];
    await send(service, { instance_id, start: START, from: start, to: end, work: 2 ** i });
  }
}

/** Calls `onBodies` before each query for bodies, with the number of those that are asked for. */
function watch({ db }: TestService, onBodies: (count: number) => Promise<unknown> | void): void {
  const query = db.query.bind(db);
  db.query = async (statement) => {
    if (typeof statement !== "string" && statement.sql.includes("read the bodies")) {
      await onBodies(JSON.parse((statement.args as { ids: string }).ids).length);
    }
    return await query(statement);
  };
}

testOnEachStorage({
  async "a read asks for the bodies of windows that are not in memory, and for no others"(service) {
    const asked: number[] = [];
    watch(service, (count) => void asked.push(count));
    const instance_id = newInstanceId();
    const query = `instance_id=${instance_id}&start=${START}&end=${START + 600}`;
    await sendSome(service, instance_id, [0, 8]);
    assert.equal(work(await read(service, query)), 2 ** 8 - 1);
    assert.equal(work(await read(service, query)), 2 ** 8 - 1);
    await sendSome(service, instance_id, [8, 9]);
    assert.equal(work(await read(service, query)), 2 ** 9 - 1);
    // Under Deno Deploy another process reads: nothing is seen of it here.
    if (asked.length > 0 || await isOnFile(service)) assert.deepEqual(asked, [3, 1]);
  },

  async "a read is right when pieces are removed or replaced while it goes on"(service) {
    const removals = [
      ["DELETE FROM windows WHERE level > 0"],
      // The same ids in reverse.
      [
        "UPDATE windows SET id = -id WHERE instance = (SELECT max(id) FROM instances)",
        "UPDATE windows SET id = id - (SELECT min(id) + max(id) FROM windows WHERE id < 0) WHERE id < 0",
      ],
    ];
    for (const removal of removals) {
      const instance_id = newInstanceId();
      await sendSome(service, instance_id, [0, 14]);
      service.service.memory = createMemory();
      let isFirst = true;
      watch(service, async () => {
        if (!isFirst) return;
        isFirst = false;
        await service.db.write(removal);
      });
      const query = `instance_id=${instance_id}&start=${START}&end=${START + 600}`;
      assert.equal(work(await read(service, query)), 2 ** 14 - 1);
      assert.equal(work(await read(service, query)), 2 ** 14 - 1);
    }
  },
});
