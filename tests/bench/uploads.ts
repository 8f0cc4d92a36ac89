/** Uploads of the ingest benchmark, as the profiler of this checkout sends them. */

import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { encodeUpload } from "@service/core";
import { type Frame, PACKED_TYPE, WindowPacker } from "@service/core/packed";
import { sampleUpload } from "./samples.ts";

/** Headers of uploads, beside the key. */
export const UPLOAD_HEADERS = { "content-type": PACKED_TYPE, "content-encoding": "gzip" };

/** The uploads of one instance: of consecutive windows, the first one with its block. */
export async function uploadsOf(
  instance_id: string,
  { windows, series }: { windows: number; series: number },
): Promise<Uint8Array<ArrayBuffer>[]> {
  const { window: _, final: __, ...instance } = sampleUpload(instance_id, series, 0);
  const packer = new WindowPacker(instance);
  const bodies: Uint8Array<ArrayBuffer>[] = [];
  let sent: string | undefined;
  for (let at = 0; at < windows; at++) {
    const { window } = sampleUpload(instance_id, series, at);
    const { frame, block } = await packer.pack(window);
    const frames = block.hash === sent ? [frame] : [block.frame, frame];
    sent = block.hash;
    bodies.push(bodyOf(frames));
  }
  return bodies;
}

/** The body of an upload of frames. */
export function bodyOf(frames: readonly Frame[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(gzipSync(Buffer.concat(frames.map(({ bytes }) => bytes))));
}

/** The same window in JSON. */
export function jsonUploadOf(instance_id: string, series: number, at: number): Uint8Array {
  return gzipSync(encodeUpload(sampleUpload(instance_id, series, at)));
}
