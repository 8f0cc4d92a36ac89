import { authenticate } from "./caller.ts";
import { answer, type Handler } from "./handler.ts";
import { INSTANCE_COLUMNS, listed, storedInstance } from "./instance.ts";
import { optional, readQuery, refuse, seconds } from "@service/core";
import { DAY_NS } from "./retention.ts";

/** `GET /api/v1/instances`: those that ran in a time range, the newest first. */
export const instances: Handler = async (c, { db, now_ns }) => {
  const { project, project_name } = await authenticate(db, c.req.header("x-api-key"));
  const query = readQuery(new URL(c.req.url).searchParams, {
    start: optional(seconds),
    end: optional(seconds),
  });
  const end_ns = query.end ?? now_ns();
  const start_ns = query.start ?? end_ns - DAY_NS;
  if (start_ns > end_ns) {
    const message = "must not be after end";
    throw refuse(400, `Cannot list instances: start ${message}`, [{ parameter: "start", message }]);
  }
  const { rows } = await db.query({
    sql: `SELECT ${INSTANCE_COLUMNS} FROM instances i JOIN keys ik ON ik.id = i.key
      WHERE i.project = ? AND i.start_ns <= ? AND i.last_seen_ns >= ?
      ORDER BY i.start_ns DESC, i.id DESC`,
    args: [project, end_ns, start_ns],
  });
  return answer(c, { instances: rows.map((row) => listed(storedInstance(row, project_name))) });
};
