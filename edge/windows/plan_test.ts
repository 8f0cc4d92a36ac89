/** The plans of statements: an upload and a read look up what they need, however much is stored. */

import assert from "node:assert/strict";
import type { Statement } from "../database/database.ts";
import { makeUpload, newInstanceId, NOW_TS, pack, postFrames, read } from "../testing/api.ts";
import { testOnFile } from "../testing/each_storage.ts";
import { createMemory } from "./memory.ts";

testOnFile("uploads and reads search each table by a key of few rows", async (service) => {
  const { db } = service;
  const statements: Exclude<Statement, string>[] = [];
  const record = (all: Statement[]) => {
    for (const one of all) if (typeof one !== "string") statements.push(one);
    return all;
  };
  const [query, many] = [db.query.bind(db), db.read.bind(db)];
  db.query = (one) => query(record([one])[0]!);
  db.read = (all) => many(record(all));
  const instance_id = newInstanceId();
  for (const at of [0, 10]) {
    service.service.memory = createMemory();
    const [from, to] = [NOW_TS + at, NOW_TS + at + 10];
    const { block, window } = await pack(makeUpload({ instance_id, start: NOW_TS, from, to }));
    const response = await postFrames(service, at === 0 ? [block, window] : [window]);
    assert.equal(response.status, 200, await response.text());
  }
  await read(service, `instance_id=${instance_id}&start=${NOW_TS}&end=${NOW_TS + 20}`);
  const plans = new Map<string, string[]>();
  for (const one of statements) {
    const { rows } = await query({ ...one, sql: `EXPLAIN QUERY PLAN ${one.sql}` });
    plans.set(one.sql, rows.map(({ detail }) => String(detail)));
  }
  for (const [sql, plan] of plans) {
    assert.ok(
      !plan.some((step) => /^SCAN (instances|blocks|windows|entries|[bikw])\b/.test(step)),
      sql,
    );
  }
  const [, found] = [...plans].find(([sql]) => sql.includes("find the block"))!;
  assert.match(found[0]!, /^SEARCH b USING INDEX \S+ \(hash=\?\)$/);
});
