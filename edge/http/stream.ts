/** Answers 200 that are made while the client reads them. */

import { acceptsGzip } from "@service/core/http";
import type { RequestContext } from "./context.ts";

type Chunk = Uint8Array<ArrayBuffer>;

/**
 * The answer 200 with chunks, at least one, of a media type: each is made when the client has read those
 * before it. A failure before the first chunk is thrown; a later one is logged and breaks off the answer.
 */
export async function respondStream(
  c: RequestContext,
  chunks: AsyncGenerator<Chunk>,
  type: string,
): Promise<Response> {
  const first: Chunk = (await chunks.next()).value;
  c.header("content-type", type);
  if (c.req.method === "HEAD") {
    await chunks.return(undefined);
    return c.body(null);
  }
  const failed = c.get("failed");
  async function* all() {
    try {
      yield first;
      yield* chunks;
    } catch (error) {
      failed(error);
      throw error;
    } finally {
      await chunks.return(undefined);
    }
  }
  const body = ReadableStream.from(all());
  if (!acceptsGzip(c.req.header("accept-encoding"))) return c.body(body);
  c.header("content-encoding", "gzip");
  return c.body(body.pipeThrough(new CompressionStream("gzip")));
}
