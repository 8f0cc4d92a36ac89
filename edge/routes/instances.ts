/** `GET /api/v1/instances`: the instances that ran in a time range. */

import { encode, instanceList } from "@service/core";
import { refuse } from "@service/core/problem";
import { countFromOne, optional, seconds, someText } from "@service/core/query";
import { LAST_NS, secondsFromNs } from "@service/core/time";
import { json } from "../http/answers.ts";
import type { Client } from "../http/authenticate.ts";
import type { Service } from "../http/context.ts";
import { type Route, route } from "../http/route.ts";
import { respondStream } from "../http/stream.ts";
import { findInstance, listed, type StoredInstance } from "../windows/instance.ts";
import { DAY_NS } from "../windows/levels.ts";
import {
  AT_ONCE,
  type InstancePage,
  type InstanceSelection,
  selectEach,
  selectInstances,
  tagFilter,
} from "../windows/selection.ts";

/** `GET /api/v1/instances`: the instances that ran in a time range, the newest first. */
export const instances: Route = route({
  method: "GET",
  path: "/api/v1/instances",
  access: "read",
  summary: "Lists the instances that ran in a time range, the newest first",
  query: {
    start: optional(
      seconds,
      "Epoch seconds; instances that ended before are left out. Default: a day before end.",
    ),
    end: optional(
      seconds,
      "Epoch seconds; instances that started after are left out. Default: now.",
    ),
    tags: optional(
      tagFilter,
      "Tags that an instance must have, all of them: k1:v1;k2:v2, where %3B is a semicolon, %25 a " +
        "percent sign and %3A a colon in a key. Default: any.",
    ),
    limit: optional(
      countFromOne,
      "Most instances in one answer. Default: all of them, as a stream.",
    ),
    after: optional(
      someText,
      "Id of the last instance of the previous page, as its header Link has it. Default: the first " +
        "page.",
    ),
  },
  answers: {
    200: json(
      instanceList,
      "The instances; where limit left some out, the header Link has the next page.",
      { name: "InstanceList" },
    ),
  },
  async handle({ c, service, query, client: { db, project } }) {
    const end_ns = query.end ?? service.now_ns();
    const start_ns = query.start ?? (end_ns > DAY_NS ? end_ns - DAY_NS : 0n);
    if (start_ns > end_ns) {
      const message = "must not be after end";
      throw refuse(400, `Cannot list instances: start ${message}`, [
        { parameter: "start", message },
      ]);
    }
    const { after } = query;
    const last = after === undefined ? undefined : await findInstance(db, project, after);
    if (last === null) {
      const message = "must be the id of a known instance, the last one of the previous page";
      throw refuse(400, `Cannot list instances: after ${message}`, [
        { parameter: "after", message },
      ]);
    }
    const selection = {
      project,
      tags: query.tags,
      after: last,
      start_ns,
      // Without `end` the range is open: an instance's clock may be ahead of ours.
      end_ns: query.end ?? LAST_NS,
    };
    const page = await selectInstances(db, { ...selection, limit: query.limit ?? AT_ONCE });
    if (!page.isLast && query.limit === undefined) {
      const all = selectFrom(page, { service, ...selection, project });
      return await respondStream(c, textOf(all), "application/json");
    }
    if (!page.isLast) {
      const next = new URL(c.req.url);
      next.searchParams.set("start", secondsFromNs(start_ns));
      if (query.end !== undefined) next.searchParams.set("end", secondsFromNs(query.end));
      next.searchParams.set("after", page.instances.at(-1)!.instance_id);
      c.header("link", `<${next.pathname}${next.search}>; rel="next"`);
    }
    return { instances: page.instances.map(listed) };
  },
});

/** The instances of a page, and all behind it. */
async function* selectFrom(
  { instances }: InstancePage,
  { service, project, ...selection }: InstanceSelection & Pick<Client, "project"> & {
    service: Service;
  },
): AsyncGenerator<StoredInstance[]> {
  yield instances;
  // The client's lease ends when the answer begins.
  using db = await service.databases.lease(project);
  try {
    yield* selectEach(db, { ...selection, project, after: instances.at(-1) });
  } finally {
    service.metrics.rows += db.rows;
  }
}

/** The list as the text of its JSON, some instances at a time. */
async function* textOf(
  all: AsyncIterable<readonly StoredInstance[]>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let before = '{"instances":[';
  for await (const some of all) {
    if (some.length === 0) continue;
    yield encoder.encode(before + some.map((one) => encode(listed(one))).join());
    before = ",";
  }
  yield encoder.encode("]}");
}
