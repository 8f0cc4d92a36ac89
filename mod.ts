/**
 * The library for scripts that read signals.
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

export * from "@service/core";
