/** Benchmark of `core`: exact JSON of a payload, and merging of windows. */

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
  // Two hundred rounds would mostly time code that the compiler has not finished with.
  const mergeMs = await medianMs(() => windows.forEach((window) => absorb(merged, window)), 2_000);
  const cloneMs = await medianMs(() => windows.forEach((window) => structuredClone(window)));
  return [
    {
      what: "JSON encoding, payload of 1 MB",
      figure: await medianMs(() => encode(payload)) / megabytes,
      unit: "ms/MB",
      comparison: {
        what: "JSON.stringify, not exact",
        figure: await medianMs(() => JSON.stringify(plain)) / megabytes,
      },
    },
    {
      what: "JSON decoding, payload of 1 MB",
      figure: await medianMs(() => decode(text)) / megabytes,
      unit: "ms/MB",
      target: { atMost: 30 },
      comparison: {
        what: "JSON.parse, not exact",
        figure: await medianMs(() => JSON.parse(text)) / megabytes,
      },
    },
    {
      what: "window merge, 300 series",
      figure: windows.length / mergeMs * 1_000,
      unit: "1/s",
      comparison: {
        what: "structuredClone of the windows",
        figure: windows.length / cloneMs * 1_000,
      },
    },
  ];
}
