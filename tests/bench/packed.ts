/** Benchmark of the packed format: windows and blocks written and read, frames checked. */

import { crc32 } from "node:zlib";
import { decode, encodeUpload } from "@service/core";
import {
  frameAt,
  MAX_PAYLOAD_BYTES,
  type PackedWindow,
  readBlock,
  readWindow,
  WindowPacker,
} from "@service/core/packed";
import { uploadShape } from "@service/core/upload_schema";
import { medianMs, type Row } from "./row.ts";
import { sampleUpload } from "./samples.ts";

const SERIES = 300;

/** Windows of each round: one alone would be too short to time. */
const WINDOWS = 16;

/** Rounds: fewer would mostly time code that the compiler has not finished with. */
const ROUNDS = 200;

/** Figures of the packed format. */
export async function benchPacked(): Promise<Row[]> {
  const uploads = Array.from(
    { length: WINDOWS },
    (_, at) => sampleUpload("0123456789ab", SERIES, at),
  );
  const { window: _, final: __, ...instance } = uploads[0]!;
  const packer = new WindowPacker(instance);
  const packed: PackedWindow[] = [];
  for (const { window } of uploads) packed.push(await packer.pack(window));
  const texts = uploads.map(encodeUpload);
  const { block } = packed[0]!;
  const large = await packer.pack(uploads[0]!.window, {
    members: { notes: "x".repeat(MAX_PAYLOAD_BYTES / 2) },
  });
  const megabytes = large.frame.bytes.length / 1e6;

  const perWindow = async (work: () => unknown) => await medianMs(work, ROUNDS) / WINDOWS * 1_000;
  return [
    {
      what: "window packed, 300 series",
      figure: await perWindow(async () => {
        for (const { window } of uploads) await packer.pack(window);
      }),
      unit: "µs",
      target: { atMost: 100 },
      comparison: { what: "as JSON", figure: await perWindow(() => uploads.map(encodeUpload)) },
    },
    {
      what: "packed window read and checked, 300 series",
      figure: await perWindow(() => {
        for (const { frame } of packed) readWindow(frameAt(frame.bytes, 0) as typeof frame, block);
      }),
      unit: "µs",
      target: { atMost: 100 },
      comparison: {
        what: "from JSON",
        figure: await perWindow(() => texts.map((text) => uploadShape.check(decode(text)))),
      },
    },
    {
      what: "packed window, 300 series",
      figure: packed[1]!.frame.bytes.length,
      unit: "bytes",
      comparison: { what: "as JSON", figure: texts[1]!.length },
    },
    {
      what: "block read and checked, 300 series",
      figure: await medianMs(() => readBlock(block.frame), ROUNDS) * 1_000,
      unit: "µs",
      comparison: {
        what: "decoding of its JSON",
        figure: await medianMs(
          () => decode(new TextDecoder().decode(block.frame.payload)),
          ROUNDS,
        ) * 1_000,
      },
    },
    {
      what: "frame checked, 8 MB",
      figure: megabytes / await medianMs(() => frameAt(large.frame.bytes, 0)) * 1_000,
      unit: "MB/s",
      comparison: {
        what: "crc32 of node:zlib",
        figure: megabytes / await medianMs(() => crc32(large.frame.payload)) * 1_000,
      },
    },
  ];
}
