/** Benchmark of `core`: exact JSON of a payload, merging of windows, names of kernels. */

import { absorb, decode, emptyWindow, encode } from "@service/core";
import { kernelName } from "@service/core/names";
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
  const symbols = await kernelSymbols();
  const namesMs = await medianMs(() => symbols.forEach((symbol) => kernelName(symbol)), 50);
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
    {
      what: "kernel names, symbols of 40 families",
      figure: symbols.length / namesMs * 1_000,
      unit: "1/s",
      target: { atLeast: 20_000 },
    },
  ];
}

/** The real symbols that the names are tested with. */
async function kernelSymbols(): Promise<string[]> {
  const table = new URL("../../core/names/testdata/kernel_symbols.tsv", import.meta.url);
  const lines = (await Deno.readTextFile(table)).split("\n");
  return lines.filter((line) => line && !line.startsWith("#")).map((line) =>
    line.split("\t").at(-1)!
  );
}
