/** The algebra: JSON of a payload, merges of windows. */

import { absorb, decode, emptyWindow, encode } from "@service/core";
import { medianMs, type Row } from "./row.ts";
import { samplePayload, sampleWindow } from "./samples.ts";

/** Figures of `core`. */
export async function benchCore(): Promise<Row[]> {
  const payload = samplePayload(1e6);
  const text = encode(payload);
  const megabytes = text.length / 1e6;
  const plain = JSON.parse(text);
  const windows = Array.from({ length: 8 }, (_, at) => sampleWindow(300, at));
  const merged = emptyWindow(windows[0]!.from_ns);
  const mergeMs = await medianMs(() => windows.forEach((window) => absorb(merged, window)), 200);
  const cloneMs = await medianMs(() => windows.forEach((window) => structuredClone(window)));
  return [
    {
      what: "encode a payload of 1 MB",
      figure: await medianMs(() => encode(payload)) / megabytes,
      unit: "ms/MB",
      beside: {
        what: "JSON.stringify, which loses digits",
        figure: await medianMs(() => JSON.stringify(plain)) / megabytes,
      },
    },
    {
      what: "decode a payload of 1 MB",
      figure: await medianMs(() => decode(text)) / megabytes,
      unit: "ms/MB",
      target: { atMost: 30 },
      beside: {
        what: "JSON.parse, which loses digits",
        figure: await medianMs(() => JSON.parse(text)) / megabytes,
      },
    },
    {
      what: "merge windows of 300 series",
      figure: windows.length / mergeMs * 1_000,
      unit: "1/s",
      beside: { what: "structuredClone of them", figure: windows.length / cloneMs * 1_000 },
    },
  ];
}
