/**
 * The algebra of signals, pure: payload types and their checks, exact JSON, bins and quantiles,
 * windows that merge. What the profiler and the hosted API share, and what an agent's script imports.
 *
 * @example Read a payload and list its kernels
 * ```ts
 * import { decode, signals } from "@service/core";
 *
 * const text = '{"payload_ns":1790000000000000001,"start_ns":1790000000000000000,' +
 *   '"context":{},"metrics":[],"errors":[],"resources":[]}';
 * const payload = signals.check(decode(text));
 * for (const metric of payload.metrics) {
 *   if (metric.type === "profile") console.log(metric.name, metric.stats.frames[0]);
 * }
 * ```
 *
 * @module
 */

export * from "./bins.ts";
export * from "./bounds.ts";
export * from "./catalogue/mod.ts";
export * from "./entries.ts";
export * from "./json.ts";
export * from "./limits.ts";
export * from "./payload.ts";
export * from "./payload_schema.ts";
export * from "./problem.ts";
export * from "./query.ts";
export * from "./schema.ts";
export * from "./series/mod.ts";
export * from "./snapshot.ts";
export * from "./sum.ts";
export * from "./tags.ts";
export * from "./time.ts";
export * from "./upload.ts";
export * from "./upload_schema.ts";
export * from "./value_schema.ts";
export * from "./window.ts";
