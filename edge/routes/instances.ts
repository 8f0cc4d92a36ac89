import type { InStatement } from "@libsql/client";
import { parseTags, type Tags } from "@service/core";
import { refuse } from "@service/core/problem";
import { countFromOne, optional, readQuery, seconds } from "@service/core/query";
import { LAST_NS, secondsFromNs } from "@service/core/time";
import { authenticate } from "../http/authenticate.ts";
import { type Cursor, cursor, cursorText } from "../windows/cursor.ts";
import { answer, type Handler } from "../http/respond.ts";
import { INSTANCE_COLUMNS, listed, storedInstance } from "../windows/instance.ts";
import { DAY_NS } from "../windows/retention.ts";

/** `GET /api/v1/instances`: those that ran in a time range, the newest first. */
export const instances: Handler = async (c, service) => {
  using caller = await authenticate(c, service, "read");
  const { db, project } = caller;
  const query = readQuery(new URL(c.req.url).searchParams, {
    start: optional(
      seconds,
      "Epoch seconds; instances that ended before are left out. Default: a day before end.",
    ),
    end: optional(
      seconds,
      "Epoch seconds; instances that started after are left out. Default: now.",
    ),
    tags: optional(
      { parse: parseTags, schema: { type: "string" } },
      "Tags that an instance must have, all of them: k1:v1;k2:v2, where %3B is a semicolon, %25 a " +
        "percent sign and %3A a colon in a key. Default: any.",
    ),
    limit: optional(countFromOne, "Most instances in one answer. Default: all."),
    cursor: optional(
      { parse: cursor, schema: { type: "string" } },
      "Where the previous page ended: taken from its header Link. Default: the first page.",
    ),
  });
  const end_ns = query.end ?? service.now_ns();
  const start_ns = query.start ?? (end_ns > DAY_NS ? end_ns - DAY_NS : 0n);
  if (start_ns > end_ns) {
    const message = "must not be after end";
    throw refuse(400, `Cannot list instances: start ${message}`, [{ parameter: "start", message }]);
  }
  const { limit } = query;
  // Where now ends the range, so does none: an instance's clock may be ahead of ours.
  const until_ns = query.end ?? LAST_NS;
  const { rows } = await db.query(select({ ...query, project, start_ns, end_ns: until_ns }));
  const found = rows.map((row) => storedInstance(row, project.name));
  const page = found.slice(0, limit);
  if (page.length < found.length) {
    const next = new URL(c.req.url);
    next.searchParams.set("start", secondsFromNs(start_ns));
    if (query.end !== undefined) next.searchParams.set("end", secondsFromNs(query.end));
    next.searchParams.set("cursor", cursorText(page.at(-1)!));
    c.header("link", `<${next.pathname}${next.search}>; rel="next"`);
  }
  return answer(c, { instances: page.map(listed) });
};

interface Selection {
  project: { id: bigint; name: string };
  start_ns: bigint;
  end_ns: bigint;
  /** Tags that an instance must have, all of them. */
  tags?: Tags;
  limit?: number;
  cursor?: Cursor;
}

/** One row more than asked for says that there are more. */
function select({ project, start_ns, end_ns, tags = {}, limit, cursor }: Selection): InStatement {
  const after = cursor ? [cursor.start_ns, cursor.id] : [];
  return {
    sql: `SELECT ${INSTANCE_COLUMNS} FROM instances i
      WHERE project = ? AND start_ns <= ? AND last_seen_ns >= ?
        ${cursor ? "AND (start_ns, id) < (?, ?)" : ""}
        AND ${HAS_TAGS}
      ORDER BY start_ns DESC, id DESC LIMIT ?`,
    args: [
      project.id,
      end_ns,
      start_ns,
      ...after,
      JSON.stringify(Object.entries(tags)),
      project.name,
      limit === undefined ? -1 : limit + 1,
    ],
  };
}

/** Whether none of the wanted tags is missing; those that the service adds replace others of their name. */
const HAS_TAGS = `NOT EXISTS (
    SELECT value ->> 0 AS wanted FROM json_each(?) w WHERE value ->> 1 IS NOT CASE wanted
      WHEN 'instance.id' THEN i.instance_id WHEN 'api_key.name' THEN i.key
      WHEN 'project.name' THEN ?
      ELSE (SELECT t.value FROM json_each(i.tags) t WHERE t.key = wanted)
    END
  )`;
