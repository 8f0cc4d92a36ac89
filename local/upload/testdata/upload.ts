/** An upload for the tests of this room. */

import { emptyWindow, seriesKey, type Upload } from "@service/core";

/** An upload of the window `(from, to]`, in seconds, whose counter `n` gained `total`. */
export function upload(from: number, to: number, total: number): Upload {
  const window = emptyWindow(BigInt(from) * 1_000_000_000n);
  window.to_ns = BigInt(to) * 1_000_000_000n;
  const series = { name: "n", type: "counter", tags: {}, updated_ns: window.to_ns, total } as const;
  window.series.set(seriesKey(series), series);
  return {
    instance_id: "0123456789ab",
    profiler_version: "0.0.0",
    start_ns: 0n,
    tags: { "instance.id": "0123456789ab" },
    attributes: {},
    final: false,
    window,
  };
}
