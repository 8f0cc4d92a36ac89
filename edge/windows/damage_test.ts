/** Damaged rows: a read is right, or says which span it lacks. */

import assert from "node:assert/strict";
import type { Row } from "../database/database.ts";
import { isOnFile, testOnEachStorage } from "../testing/each_storage.ts";
import { ADMIN_TOKEN, newInstanceId, read, send, type TestService, work } from "../testing/api.ts";
import { createMemory } from "./memory.ts";

/** A whole minute. */
const START = 1_789_999_200;

/** Windows of ten seconds: a minute that is rolled up, and two more. */
const WINDOWS = 8;

/** Each window adds a number of its own, so that a total says which windows are in it. */
async function sendAll(service: TestService): Promise<string> {
  const instance_id = newInstanceId();
  for (let i = 0; i < WINDOWS; i++) {
    const from = START + 10 * i;
    await send(service, { instance_id, start: START, from, to: from + 10, work: 2 ** i });
  }
  return instance_id;
}

/** A table with rows that may be damaged, and their column with a checksum. */
const COLUMNS = { windows: "body", blocks: "body", entries: "entries" };
type Table = keyof typeof COLUMNS;

/** The rows of a table whose instance has this id. */
async function rowsOf(
  { db }: TestService,
  table: Table,
  id: string,
): Promise<Row[]> {
  const { rows } = await db.query({
    sql: `SELECT * FROM ${table} WHERE instance = (SELECT id FROM instances WHERE instance_id = ?)`,
    args: [id],
  });
  return rows;
}

/** Reads all with other bytes in a row, and then puts back the right ones. */
async function readWith(
  service: TestService,
  { table, row, body }: { table: Table; row: Row; body: Uint8Array },
): ReturnType<typeof read> {
  const store = async (stored: Row | Record<string, Uint8Array>) => {
    // With another digest a window is not known from the memory of any process.
    const columns = table === "windows" ? ["digest", "body"] : [COLUMNS[table]];
    const sql = `UPDATE ${table} SET ${columns.map((name) => `${name} = ?`)} WHERE id = ?`;
    await service.db.write([{ sql, args: [...columns.map((name) => stored[name]!), row.id!] }]);
  };
  await store({ [COLUMNS[table]]: body, digest: crypto.getRandomValues(new Uint8Array(16)) });
  const { blocks } = service.service.memory;
  if (table === "blocks") service.service.memory = createMemory(blocks.onDamage);
  const [instance] = (await service.db.query({
    sql: "SELECT instance_id FROM instances WHERE id = ?",
    args: [row.instance!],
  })).rows;
  const payload = await read(
    service,
    `instance_id=${instance!.instance_id}&start=${START}&end=${START + 10 * WINDOWS}`,
  );
  await store(row);
  return payload;
}

/** The windows that end in the span of a row, as the sum of what they add. */
function workOf({ from_ns, to_ns }: Row): number {
  const at = (ns: unknown) => (Number((ns as bigint) / 1_000_000_000n) - START) / 10;
  return 2 ** at(to_ns) - 2 ** at(from_ns);
}

function spanText({ from_ns, to_ns }: Row): string {
  const [from, to] = [from_ns, to_ns].map((ns) => (ns as bigint) / 1_000_000_000n);
  return `${to! - from!} s between ${from} and ${to} (epoch seconds) are stored and cannot be read`;
}

/** Every byte changed, and every length that the body may be cut to; on a server a sample of them. */
function* damaged(bytes: Uint8Array, step: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += step) {
    yield bytes.with(at, bytes[at]! ^ 1 << at % 8);
    yield bytes.slice(0, at);
  }
  yield new Uint8Array([...bytes, 0]);
}

const ALL = 2 ** WINDOWS - 1;

testOnEachStorage({
  async "a read with a damaged window is right, or lacks just that and says so"(service) {
    const id = await sendAll(service);
    const rows = await rowsOf(service, "windows", id);
    // The windows of the minute are not read: its roll-up is.
    const used = rows.filter(({ level, end_ns }) =>
      level === 60n || end_ns as bigint > BigInt(START + 60) * 1_000_000_000n
    );
    assert.equal(used.reduce((sum, row) => sum + workOf(row), 0), ALL);
    const step = await isOnFile(service) ? 1 : 23;
    for (const row of used) {
      let lost = 0;
      for (const body of damaged(new Uint8Array(row.body as ArrayBuffer), step)) {
        const payload = await readWith(service, { table: "windows", row, body });
        const messages = payload.errors.map(({ message }) => message);
        if (messages.length === 0) assert.equal(work(payload), ALL);
        else {
          assert.ok(
            messages.length === 1 && messages[0]!.startsWith(spanText(row)),
            messages.join(),
          );
          assert.equal(work(payload), ALL - workOf(row));
          lost++;
        }
      }
      assert.ok(lost > 0);
    }
  },

  async "another row's window is not taken for the one that was stored"(service) {
    const [id, other] = [await sendAll(service), await sendAll(service)];
    const rows = await rowsOf(service, "windows", id);
    const row = rows.find(({ end_ns }) => end_ns === BigInt(START + 70) * 1_000_000_000n)!;
    for (const wrong of [...rows, ...await rowsOf(service, "windows", other)]) {
      if (wrong.id === row.id) continue;
      const body = new Uint8Array(wrong.body as ArrayBuffer);
      const payload = await readWith(service, { table: "windows", row, body });
      assert.equal(work(payload), ALL - workOf(row));
      assert.ok(payload.errors[0]?.message.startsWith(spanText(row)));
    }
  },

  async "without its block a window is missing, and a damaged block is never taken"(service) {
    const [id, other] = [await sendAll(service), await sendAll(service)];
    const [row] = await rowsOf(service, "blocks", id);
    const [wrong] = await rowsOf(service, "blocks", other);
    const step = await isOnFile(service) ? 1 : 23;
    const bodies = [...damaged(new Uint8Array(row!.body as ArrayBuffer), step)];
    for (const body of [...bodies, new Uint8Array(wrong!.body as ArrayBuffer)]) {
      const payload = await readWith(service, { table: "blocks", row: row!, body });
      const isWhole = payload.errors.length === 0;
      assert.equal(work(payload), isWhole ? ALL : 0);
      if (isWhole) continue;
      const all = spanText({ from_ns: ns(START), to_ns: ns(START + 80) } as unknown as Row);
      assert.ok(payload.errors[0]!.message.startsWith(all), payload.errors[0]!.message);
    }
  },

  async "entries that are damaged are missing, and the read says how many"(service) {
    const instance_id = newInstanceId();
    const told = (i: number) => ({
      level: "error" as const,
      message: `told ${i}`,
      exception: "",
      log_ns: ns(START + 10 * i + 5),
    });
    for (let i = 0; i < 3; i++) {
      const from = START + 10 * i;
      const errors = [told(i), told(i)];
      await send(service, { instance_id, start: START, from, to: from + 10, errors });
    }
    const rows = await rowsOf(service, "entries", instance_id);
    const [, row] = rows;
    const step = await isOnFile(service) ? 1 : 23;
    const bodies = [...damaged(new Uint8Array(row!.entries as ArrayBuffer), step)];
    for (const body of bodies) {
      const payload = await readWith(service, { table: "entries", row: row!, body });
      assert.equal(work(payload), 3);
      assert.deepEqual(payload.errors.map(({ message, log_ns }) => [message, log_ns]), [
        ["told 2", ns(START + 25)],
        ["told 2", ns(START + 25)],
        ["2 errors are stored and cannot be read", ns(START + 20)],
        ["told 0", ns(START + 5)],
        ["told 0", ns(START + 5)],
      ]);
    }
  },

  async "damaged rows are counted in /metrics"(service) {
    const id = await sendAll(service);
    const [row] = (await rowsOf(service, "windows", id)).slice(-1);
    const count = async () => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const text = await (await service.request("/metrics", { headers })).text();
      return Number(/^service_damaged_rows_total (\d+)$/m.exec(text)?.[1]);
    };
    const before = await count();
    await readWith(service, { table: "windows", row: row!, body: new Uint8Array(3) });
    assert.equal(await count(), before + 1);
  },
});

function ns(ts: number): bigint {
  return BigInt(ts) * 1_000_000_000n;
}
