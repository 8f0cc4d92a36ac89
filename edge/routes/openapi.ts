import { instanceList, type JsonSchema, type Shape, signals } from "@service/core";
import { MAX_INFLATED_BYTES, MAX_UPLOAD_BYTES } from "@service/core/limits";
import { problem } from "@service/core/payload_schema";
import { flag, nanoseconds, object, oneOf } from "@service/core/schema";
import { uploadShape } from "@service/core/upload_schema";
import { adminPaths } from "./openapi_admin.ts";
import {
  BAD_QUERY,
  FAILED,
  HEADERS,
  json,
  NO_KEY,
  NO_SCOPE,
  parameter,
  ref,
  refusal,
  TOO_OFTEN,
  UNAVAILABLE,
} from "../http/openapi_parts.ts";
import { VERSION } from "../version.ts";

/** What became of an upload. */
export interface Ingested {
  /** `false`: it was stored before. */
  stored: boolean;
  /** End of the unbroken chain of the instance's windows, epoch nanoseconds. */
  watermark_ns: bigint;
}

/** Answer of `POST /api/v1/ingest`. */
export const ingested: Shape<Ingested> = object<Ingested>({
  stored: flag,
  watermark_ns: nanoseconds,
});

const SECONDS: JsonSchema = { type: "number", minimum: 0 };

const START_OF_LIST = parameter("start", SECONDS, {
  description:
    "Epoch seconds; instances that ended before are left out. Default: a day before end.",
});
const END_OF_LIST = parameter("end", SECONDS, {
  description: "Epoch seconds; instances that started after are left out. Default: now.",
});
const TAGS = parameter("tags", { type: "string" }, {
  description: "Tags that an instance must have, all of them: k1:v1;k2:v2, where %3B is a " +
    "semicolon, %25 a percent sign and %3A a colon in a key. Default: any.",
});
const LIMIT = parameter("limit", { type: "integer", minimum: 1, maximum: 999_999_999 }, {
  description: "Most instances in one answer. Default: all.",
});
const CURSOR = parameter("cursor", { type: "string" }, {
  description: "Where the page before ended: taken from its header Link. Default: the first page.",
});
const INSTANCE_ID = parameter("instance_id", { type: "string", minLength: 1 }, {
  required: true,
  description: "The instance to read, from the list of instances.",
});
const START = parameter("start", SECONDS, {
  required: true,
  description:
    "Epoch seconds, exclusive: where counters, histograms and profiles start. To follow " +
    "an instance, the payload_ns / 1e9 of the read before; nothing is then counted twice. Older " +
    "than what is kept: no metrics.",
});
const END = parameter("end", SECONDS, {
  description: "Epoch seconds, inclusive: the snapshot instant, or as near to it as all has " +
    "arrived. Default: now.",
});
const METRICS = parameter("metrics", { type: "array", items: { type: "string", minLength: 1 } }, {
  style: "form",
  explode: false,
  description: "Names with commas between them; one that ends in * stands for all that start so. " +
    "Default: all.",
});
const TOP = parameter("top", { type: "integer", minimum: 1, maximum: 999_999_999 }, {
  description: "Frames of each profile, largest first. Default: all.",
});

/** The hosted API, described (OpenAPI 3.1). */
export const openapi = {
  openapi: "3.1.0",
  info: {
    title: "Signals",
    version: VERSION,
    description: "Profiles, metrics and errors of running workloads. Fields that end in _ns are " +
      "epoch nanoseconds, past 2^53: read them with a parser that keeps 64-bit integers. Fields " +
      "that end in _ts are epoch seconds. A query takes epoch seconds, with up to nine decimals.",
  },
  security: [{ key: [] }],
  paths: {
    "/health": {
      get: {
        summary: "Says that the service runs and its database answers",
        security: [],
        responses: {
          503: refusal("The database does not answer within two seconds."),
          200: json("It runs.", {
            schema: object<{ status: "ok" }>({ status: oneOf("ok") }).schema,
            example: { status: "ok" },
          }),
        },
      },
    },
    "/openapi.json": {
      get: {
        summary: "This document",
        security: [],
        responses: { 200: json("The document.", { schema: { type: "object" } }) },
      },
    },
    "/api/v1/instances": {
      get: {
        summary: "Lists the instances that ran in a time range, the newest first",
        parameters: [START_OF_LIST, END_OF_LIST, TAGS, LIMIT, CURSOR],
        responses: {
          200: json(
            "The instances; where limit left some out, the header Link has the next page.",
            {
              schema: ref("InstanceList"),
            },
          ),
          400: BAD_QUERY,
          401: NO_KEY,
          403: NO_SCOPE,
          429: TOO_OFTEN,
          500: FAILED,
          503: UNAVAILABLE,
        },
      },
    },
    "/api/v1/signals": {
      get: {
        summary: "Reads one instance's snapshot, accumulated from start",
        description:
          "An answer that can never change, as end is given and all up to it has come, has " +
          "an ETag.",
        parameters: [INSTANCE_ID, START, END, METRICS, TOP, {
          name: "If-None-Match",
          in: "header",
          description: "ETags of answers that the caller has.",
          schema: { type: "string" },
        }],
        responses: {
          200: json("The snapshot.", { schema: ref("Signals") }),
          304: { description: "The caller has the answer.", headers: HEADERS, content: {} },
          400: refusal(`${BAD_QUERY.description} Or start is after end.`),
          401: NO_KEY,
          403: NO_SCOPE,
          404: refusal("The key's project has no such instance."),
          429: TOO_OFTEN,
          500: FAILED,
          503: UNAVAILABLE,
        },
      },
    },
    "/api/v1/ingest": {
      post: {
        summary: "Takes one window of one instance, as the profiler uploads it",
        description: "The same window again changes nothing. Windows may come in any order.",
        parameters: [{
          name: "Content-Encoding",
          in: "header",
          description: "How the body is packed. Default: identity.",
          schema: { enum: ["gzip", "identity"] },
        }],
        requestBody: {
          required: true,
          description: `At most ${MAX_UPLOAD_BYTES} bytes, and ${MAX_INFLATED_BYTES} inflated.`,
          content: { "application/json": { schema: ref("Upload") } },
        },
        responses: {
          200: json("The window is stored.", {
            schema: ref("Ingested"),
            example: { stored: true, watermark_ns: 0 },
          }),
          400: refusal(
            "A header or the body is wrong: errors names the header, or the path in it.",
          ),
          401: NO_KEY,
          403: NO_SCOPE,
          409: refusal(
            "The window contradicts what is stored: another start_ns, a span that overlaps one, " +
              "other content for the same span, or a span after the final one. Or the instance is new, " +
              "and the project has as many as it may.",
          ),
          413: refusal("The body is too large, as sent or inflated."),
          422: refusal("The window has more series than the project may have."),
          429: TOO_OFTEN,
          500: FAILED,
          503: UNAVAILABLE,
        },
      },
    },
    ...adminPaths,
  },
  components: {
    securitySchemes: {
      key: { type: "apiKey", in: "header", name: "X-API-Key" },
      operator: { type: "http", scheme: "bearer" },
    },
    headers: {
      RequestId: {
        description: "The id of the request: X-Request-Id as sent, or a new one.",
        schema: { type: "string" },
      },
    },
    schemas: {
      Signals: signals.schema,
      InstanceList: instanceList.schema,
      Upload: uploadShape.schema,
      Ingested: ingested.schema,
      Problem: problem.schema,
    },
  },
};
