/** A run for the tests of this room: packed windows of one instance. */

import { emptyWindow, type Series, seriesKey, type Window } from "@service/core";
import {
  type InstanceHead,
  type PackedWindow,
  readWindow,
  scanWindows,
  WindowPacker,
} from "@service/core/packed";
import { chunksOf } from "../directory.ts";

export const SECOND_NS = 1_000_000_000n;

/** An instance that starts at 0. */
export const INSTANCE: InstanceHead = {
  instance_id: "0123456789ab",
  profiler_version: "0.0.0",
  start_ns: 0n,
  tags: { "instance.id": "0123456789ab", "host.name": "a" },
  attributes: { "process.command_line": "true" },
};

/** The window `(from, to]`, in seconds, whose counter `n` gained as many; and further gauges. */
export function windowOf(from: number, to: number, gauges: readonly string[] = []): Window {
  const window = { ...emptyWindow(BigInt(from) * SECOND_NS), to_ns: BigInt(to) * SECOND_NS };
  const updated_ns = window.to_ns;
  const all: Series[] = [
    { name: "n", type: "counter", tags: {}, updated_ns, total: to - from },
    ...gauges.map((name) => ({ name, type: "gauge", tags: {}, updated_ns, value: to } as const)),
  ];
  for (const series of all) window.series.set(seriesKey(series), series);
  return window;
}

/** Windows of ten seconds each, one after the other, the last one final. */
export async function packedRun(
  count: number,
  { instance = INSTANCE, gauges = (_: number): readonly string[] => [] } = {},
): Promise<PackedWindow[]> {
  const packer = new WindowPacker(instance);
  const windows: PackedWindow[] = [];
  for (let i = 0; i < count; i++) {
    const window = windowOf(10 * i, 10 * (i + 1), gauges(i));
    windows.push(await packer.pack(window, { final: i === count - 1 }));
  }
  return windows;
}

/** Spans in seconds of the windows in a file, and the sum of their counters. */
export async function contents(path: string): Promise<{ spans: string[]; total: number }> {
  using file = await Deno.open(path);
  const spans: string[] = [];
  let total = 0;
  for await (const { frame, block, head } of scanWindows(chunksOf(file))) {
    spans.push(`${head.from_ns / SECOND_NS}-${head.to_ns / SECOND_NS}`);
    total += totalOf(readWindow(frame, block).window);
  }
  return { spans, total };
}

/** The counter of a window. */
export function totalOf(window: Window): number {
  const series = window.series.get(seriesKey({ name: "n", type: "counter", tags: {} }));
  return series?.type === "counter" ? Number(series.total) : 0;
}
