/** `POST /api/v1/ingest`: stores one window of one instance, in any project or in the one named. */

import { MAX_INFLATED_BYTES, MAX_UPLOAD_BYTES } from "@service/core/limits";
import { PACKED_TYPE } from "@service/core/packed";
import { refuse } from "@service/core/problem";
import { flag, list, nanoseconds, object, type Shape, text } from "@service/core/schema";
import { SECOND_NS } from "@service/core/time";
import { uploadShape } from "@service/core/upload_schema";
import { json, refusal } from "../http/answers.ts";
import type { Client } from "../http/authenticate.ts";
import { JSON_TYPE, readBody } from "../http/body.ts";
import { type Answers, type AuthenticatedRequest, type Route, route } from "../http/route.ts";
import { expectFewSeries, limitsOf } from "../tenancy/quotas.ts";
import { digestOf } from "../windows/digest.ts";
import { storedLists } from "../windows/entries.ts";
import { rollUpClosed } from "../windows/rollup.ts";
import { storeWindow, type WindowToStore } from "../windows/write.ts";
import { type ReadJsonUpload, readJsonUpload } from "./json_upload.ts";
import { type ReadPackedUpload, readPackedUpload } from "./packed_upload.ts";

/** An upload, packed already if it came so. */
type ReadUpload = ReadJsonUpload & { packed?: ReadPackedUpload["packed"] };

/** The outcome of an upload. */
export interface Ingested {
  /** `false`: it was stored before. */
  stored: boolean;
  /** Id of the project that has it; it tells nothing about the project. */
  project: string;
  /** End of the unbroken chain of the instance's windows, epoch nanoseconds. */
  watermark_ns: bigint;
  /** Hash of its block, which later uploads may leave out; absent after an upload in JSON. */
  block?: string;
  /** Paths of members that were ignored, without indexes, the first twenty; absent: none. */
  ignored?: string[];
}

const ingested: Shape<Ingested> = object<Ingested>({
  stored: flag,
  project: text(),
  watermark_ns: nanoseconds,
  block: text(),
  ignored: list(text()),
}, ["block", "ignored"]);

/** A window, and what is answered beside the outcome. */
interface ReadWindow {
  window: WindowToStore;
  answered: Pick<Ingested, "project" | "block" | "ignored">;
}

/** `POST /api/v1/ingest`: stores one window of one instance, in the project of the key. */
export const ingest: Route = ingestRoute({
  path: "/api/v1/ingest",
  summary: "Stores one window of one instance, as the profiler uploads it",
});

/** `POST /api/v1/ingest/{project}`: the same, unless the key is of another project. */
export const ingestInto: Route = ingestRoute({
  path: "/api/v1/ingest/{project}",
  summary: "Stores one window of one instance, unless the key is of another project",
  segments: { project: "The project, as the answer to an upload has named it." },
  refusals: {
    403: refusal(
      "The key does not allow this: errors names the scope that it lacks, or the project that is " +
        "not its own.",
    ),
  },
});

/** What the routes of uploads differ in. */
interface IngestOptions extends Pick<Route, "path" | "segments"> {
  summary: string;
  refusals?: Answers;
}

/** A route that stores a window. */
function ingestRoute({ refusals, ...options }: IngestOptions): Route {
  return route({
    ...options,
    method: "POST",
    access: "write",
    description:
      "A window that is sent again with the same bytes, compressed or not, changes nothing. Windows " +
      "end on whole seconds, and may arrive in any order. Members that the service does not know are ignored, and named in the " +
      "answer.",
    headers: {
      "Content-Encoding": {
        description: "Compression of the body. Default: identity.",
        schema: { enum: ["gzip", "identity"] },
      },
    },
    body: {
      description:
        `At most ${MAX_UPLOAD_BYTES} bytes, and ${MAX_INFLATED_BYTES} inflated. In the packed format ` +
        "(core/packed/FORMAT.md): a window, and before it its block unless an answer has named it.",
      otherTypes: [PACKED_TYPE],
      name: "Upload",
      schema: uploadShape.schema,
      read: readWindow,
    },
    answers: {
      200: json(ingested, "The window is stored.", {
        name: "Ingested",
        example: {
          stored: true,
          project: "5f0c6d1e9b7a48c2a3d4e5f60718293a",
          watermark_ns: 0,
        },
      }),
      400: refusal("A header or the body is wrong: errors names the header, or the path in it."),
      409: refusal(
        "The window contradicts what is stored: another start_ns, a span that overlaps one, other " +
          "content for the same span, or a span after the final one. Or the instance is new, and " +
          "the project's quota of instances is used up.",
      ),
      413: refusal("The body is too large, as sent or inflated."),
      415: refusal("The upload has a type, encoding or format that this service does not read."),
      422: refusal("The window has more series than the project's quota."),
      424: refusal("The block of the window is not known: it must be sent with the window."),
      ...refusals,
    },
    async handle({ service, client: { db }, body: { window, answered } }) {
      const { blocks } = service.memory;
      const outcome = await storeWindow(db, window, { blocks });
      if ("conflict" in outcome) {
        const { conflict: parameter, message } = outcome;
        throw refuse(409, `Cannot store the window: ${parameter} ${message}`, [
          { parameter, message },
        ]);
      }
      const { instance, last_seen_ns, rolled, ...stored } = outcome;
      service.metrics.windows[stored.stored ? "stored" : "duplicate"]++;
      const { from_ns, to_ns } = window;
      if (stored.stored) {
        const { project } = window;
        const closing = { blocks, project, instance, from_ns, to_ns, last_seen_ns, rolled };
        await rollUpClosed(db, closing).catch(() => {
          // The window is stored, and maintenance makes roll-ups that are missing.
        });
      }
      return { ...stored, ...answered };
    },
  });
}

/** Reads end where windows do: a client may hold such an instant as seconds, in a double. */
function expectWholeSecond(to_ns: bigint, parameter: string): void {
  if (to_ns % SECOND_NS === 0n) return;
  const message = "must be a whole second: round the end of the last window up, and give its own " +
    `end as ended_ns: got ${to_ns}`;
  throw refuse(400, `Cannot store the window: ${parameter} ${message}`, [{ parameter, message }]);
}

/** What belongs to one project is never stored in another: a key may have been replaced meanwhile. */
function expectProject(named: string | undefined, { key, project }: Client): void {
  if (named === undefined || named === project.public_id) return;
  const message = `is not that of the key ${key.prefix}: use a key of the project`;
  throw refuse(403, `Cannot store the window: the project in the path ${message}`, [
    { parameter: "project", message },
  ]);
}

/** The window as it is stored; its body is garbage before the window waits in the write queue. */
async function readWindow(
  { c, service, client }: AuthenticatedRequest<"write">,
): Promise<ReadWindow> {
  const { db, project: { id: project, public_id }, key } = client;
  expectProject(c.req.param("project"), client);
  const { blocks, packers, minutes } = service.memory;
  const limits = limitsOf(client.project, service.quotas);
  const limit = limits.max_body_bytes;
  const { type, bytes } = await readBody(c.req.raw, { types: [JSON_TYPE, PACKED_TYPE], limit });
  const isPacked = type === PACKED_TYPE;
  const read: ReadUpload = isPacked
    ? await readPackedUpload(bytes, { client, blocks })
    : readJsonUpload(bytes);
  const { upload, content, ignored } = read;
  const { window, final, ended_ns, instance_id } = upload;
  expectWholeSecond(window.to_ns, isPacked ? "to_ns" : "window.to_ns");
  expectFewSeries(window, limits);
  await service.instances.expectRoom(client, instance_id, limits);
  const { frame, known } = read.packed ?? await packers.pack(db, project, upload);
  const { hash } = known.block;
  const { from_ns, to_ns } = window;
  const name = { project, instance_id };
  const digest = digestOf(content);
  return {
    window: {
      project,
      key: key.name,
      known,
      from_ns,
      to_ns,
      final,
      ended_ns,
      body: frame.bytes,
      digest,
      entries: storedLists(window),
      minutes: minutes.closeWith({ name, from_ns, to_ns, frame, block: hash, digest }),
      received_ns: service.now_ns(),
    },
    answered: {
      project: public_id,
      ...(isPacked && { block: hash }),
      ...(ignored.length > 0 && { ignored }),
    },
  };
}
