/** Bodies of requests: bounded and inflated. */

import { gunzipSync } from "node:zlib";
import { decode, type Shape, ShapeError } from "@service/core";
import { MAX_INFLATED_BYTES } from "@service/core/limits";
import { Refusal, refuse } from "@service/core/problem";
import type { Access, RequestBody } from "./route.ts";

/** Largest chunk that a body is inflated into; most fit into one, which is faster than several. */
const MAX_CHUNK_BYTES = 65_536;

type Bytes = Uint8Array<ArrayBuffer>;

/** A body as it was sent, inflated. */
export interface Body {
  /** Its media type. */
  type: string;
  bytes: Bytes;
}

/** The bodies that are read. */
export interface BodyOptions {
  /** Media types, in lower case. */
  types: readonly string[];
  /** Most bytes as sent. */
  limit: number;
}

/** Media type of JSON. */
export const JSON_TYPE = "application/json";

/**
 * The body of a request.
 *
 * @throws {Refusal} 400 for broken gzip or a body that is cut off; 413 for too many bytes; 415 for
 * another media type or encoding.
 */
export async function readBody(request: Request, { types, limit }: BodyOptions): Promise<Body> {
  const { headers } = request;
  const given = headers.get("content-type") ?? "";
  const type = given.split(";", 1)[0]!.trim().toLowerCase();
  if (!types.includes(type)) throw badHeader("Content-Type", types.join(" or "), given);
  const encoding = (headers.get("content-encoding") ?? "identity").toLowerCase();
  if (encoding !== "gzip" && encoding !== "identity") {
    throw badHeader("Content-Encoding", "gzip or identity", encoding);
  }
  const sent = await readUpTo(limit, request).catch(cutOff);
  return { type, bytes: encoding === "gzip" ? inflated(sent) : sent };
}

function inflated(sent: Bytes): Bytes {
  try {
    // Synchronous: parsing the text takes far longer anyway, and streams fail in Deno 2.5 on bodies
    // of several MiB.
    const chunkSize = Math.min(MAX_CHUNK_BYTES, statedSize(sent) + 1);
    // A copy: the chunk would be kept as long as anything in it.
    return new Uint8Array(
      gunzipSync(sent, { maxOutputLength: MAX_INFLATED_BYTES, chunkSize }),
    );
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") {
      throw tooLarge(MAX_INFLATED_BYTES, "inflated");
    }
    throw refuse(400, "Cannot inflate the body: it must be whole gzip, as Content-Encoding says", [
      { parameter: "body", message: "is not whole gzip" },
    ]);
  }
}

/** The size that the last bytes of gzip state, which may be wrong. */
function statedSize({ buffer, byteOffset, length }: Bytes): number {
  const smallest = 64;
  if (length < smallest) return smallest;
  return Math.max(smallest, new DataView(buffer, byteOffset).getUint32(length - 4, true));
}

/** Most bytes of a body that is not an upload. */
const MAX_JSON_BYTES = 65_536;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** A JSON body of the shape. */
export function jsonBody<T>(shape: Shape<T>): RequestBody<T, Access> {
  return {
    schema: shape.schema,
    async read({ c }) {
      const { bytes } = await readBody(c.req.raw, { types: [JSON_TYPE], limit: MAX_JSON_BYTES });
      try {
        return shape.check(decode(strictUtf8.decode(bytes)));
      } catch (error) {
        const [parameter, message] = error instanceof ShapeError && error.path
          ? [error.path, error.fault]
          : ["body", (error as Error).message];
        throw refuse(400, `Cannot read the body: ${parameter} ${message}`, [
          { parameter, message },
        ]);
      }
    },
  };
}

async function readUpTo(limit: number, request: Request): Promise<Bytes> {
  const stated = Number(request.headers.get("content-length") ?? NaN);
  if (stated > limit) throw tooLarge(limit, "as sent");
  // The server reads no more than the stated length, and one read is twice as fast as many.
  if (stated <= limit) return await request.bytes() as Bytes;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit, "as sent");
    chunks.push(chunk);
  }
  const body = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}

/** Refuses the body of a client that has disconnected: this is not a failure of the service. */
function cutOff(error: unknown): never {
  if (error instanceof Refusal) throw error;
  const message = "ended before its stated length";
  throw refuse(400, `Cannot read the body: it ${message}`, [{ parameter: "body", message }]);
}

function tooLarge(limit: number, which: string): Refusal {
  return refuse(
    413,
    `Cannot accept the body: it must have at most ${limit} bytes ${which}; send smaller windows`,
    [{ parameter: "body", message: `must have at most ${limit} bytes ${which}` }],
  );
}

function badHeader(name: string, allowed: string, given: string): Refusal {
  const message = `must be ${allowed}: got ${JSON.stringify(given.slice(0, 80))}`;
  return refuse(415, `Cannot read the body: ${name} ${message}`, [{ parameter: name, message }]);
}
