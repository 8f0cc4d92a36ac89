/** Subjects of many instances: which are read, and what is said of the others. */

import assert from "node:assert/strict";
import type { Instance } from "../payload.ts";
import type { SignalsReader } from "../reader.ts";
import { hasTags } from "../tags.ts";
import { nsFromTs } from "../time.ts";
import { emptyWindow } from "../window.ts";
import { MAX_INSTANCES, readSubject } from "./read_subject.ts";
import { contextText } from "./text.ts";

const span = { from_ns: nsFromTs(1_000), to_ns: nsFromTs(2_000) };
const query = { span, tags: {}, base_url: "http://127.0.0.1:8000" };

/** A reader of instances, all with one window; those that were read, by id. */
function readerOf(all: readonly Instance[]) {
  const read: string[] = [];
  const reader: SignalsReader = {
    instances({ tags = {} }, _span, { limit, after }) {
      const first = all.findIndex(({ instance_id }) => instance_id === after) + 1;
      const found = all.slice(first).filter((one) => hasTags(one.tags, tags));
      return Promise.resolve(found.slice(0, limit));
    },
    windows: () => assert.fail("the span is read in steps alone"),
    async *steps(id) {
      read.push(id);
      const window = { ...emptyWindow(span.from_ns), to_ns: span.to_ns };
      yield { window, payload_ns: span.to_ns, gaps: [] };
    },
  };
  return { reader, read };
}

/** Instances, the newest first, of which every third ran through the span. */
function instancesOf(count: number): Instance[] {
  return Array.from({ length: count }, (_, at) => ({
    instance_id: at.toString(16).padStart(12, "0"),
    resource_id: "r",
    tags: { team: at % 2 === 0 ? "red" : "blue", run: String(at) },
    attributes: {},
    first_seen_ts: 500,
    last_seen_ts: at % 3 === 0 ? 3_000 : 1_500,
  }));
}

Deno.test("of more than a thousand instances those are read that ran longest", async () => {
  const all = instancesOf(2_400);
  const { reader, read } = readerOf(all);
  const subject = await readSubject(reader, query);
  assert.equal(read.length, MAX_INSTANCES);
  const whole = all.filter(({ last_seen_ts }) => last_seen_ts === 3_000);
  assert.ok(whole.length < MAX_INSTANCES);
  assert.ok(whole.every(({ instance_id }) => read.includes(instance_id)));
  assert.deepEqual([subject.matched, subject.instances.length], [2_400, MAX_INSTANCES]);
  assert.match(contextText(subject), /2400 instances match; these are the 1000 that ran longest/);
});

Deno.test("tags that are there are told, the newest values first, whatever was asked for", async () => {
  const { reader, read } = readerOf(instancesOf(30));
  const { available_tags, instances, matched } = await readSubject(reader, {
    ...query,
    tags: { team: "green" },
  });
  assert.deepEqual([read, instances, matched], [[], [], 0]);
  assert.deepEqual(available_tags.get("team"), ["red", "blue"]);
  assert.deepEqual(available_tags.get("run")?.slice(0, 3), ["0", "1", "2"]);
});
