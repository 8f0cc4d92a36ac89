/**
 * The package's entry: `deno run -A jsr:@service/run -- <command>` profiles a command and serves its
 * measurements at `http://127.0.0.1:18259/signals`. A script imports it to read such payloads.
 *
 * @example The busiest process, from a payload
 * ```ts
 * import { decode, signals } from "@service/run";
 *
 * const text = '{"payload_ns":2,"start_ns":1,"context":{},"metrics":[],"errors":[],"resources":[]}';
 * const busiest = signals.check(decode(text)).metrics
 *   .filter(({ name }) => name === "process_cpu_usage_percent")
 *   .toSorted((a, b) => JSON.stringify(b.stats) < JSON.stringify(a.stats) ? -1 : 1)[0];
 * console.log(busiest?.tags["process.pid"] ?? "nothing measured");
 * ```
 *
 * @module
 */

export {
  catalogue,
  type CatalogueEntry,
  type CounterStats,
  decode,
  describe,
  encode,
  type Entries,
  type ErrorEntry,
  formatTags,
  type Frame,
  type GaugeStats,
  type HistogramStats,
  type Instance,
  type InstanceList,
  instanceList,
  type JsonSchema,
  type Metric,
  type MetricOf,
  parseTags,
  type ProfileStats,
  type Quantity,
  type Resource,
  type Shape,
  ShapeError,
  type Signals,
  signals,
  type Tags,
} from "@service/core";
export type { Problem } from "@service/core/payload";
export { problem } from "@service/core/payload_schema";
export { nsFromSeconds, secondsFromNs } from "@service/core/time";

if (import.meta.main) {
  const { main } = await import("./local/main.ts");
  await main(Deno.args);
}
