/** Queries that a reader may want next, as full URLs, or commands, with their values. */

import { secondsFromNs } from "../time.ts";
import type { Subject } from "./subject.ts";

/** The next queries, the most useful first. */
export function describeSpan({ instances, asked, base_url, is_local }: Subject): string[] {
  const [first] = instances;
  const [detail, section] = instances.some(({ devices }) => devices.length > 0)
    ? ["GPU time", "gpu_time"]
    : ["host and processes", "host"];
  const start = secondsFromNs(asked.from_ns);
  const end = secondsFromNs(asked.to_ns);
  const middle = secondsFromNs(
    (asked.from_ns + asked.to_ns) / 2n / 1_000_000_000n * 1_000_000_000n,
  );
  if (base_url === null) {
    const command = `service-run context ${first?.instance.instance_id ?? ""}`.trim();
    return [
      `the last minute alone: ${command} --window "last 60s"`,
      `${detail} in full: ${command} --window ${start}..${end} --sections ${section} --max-tokens 20000`,
      `the halves of the span, to see a change: ${command} --window ${start}..${middle} and --window ${middle}..${end}`,
    ];
  }
  if (is_local) {
    return [
      `the last minute alone: ${base_url}/context?seconds=60`,
      `only findings as data: ${base_url}/findings?start=${start}&end=${end}`,
      `${detail} in full: ${base_url}/context?start=${start}&end=${end}&sections=${section}&max_tokens=20000`,
      `all numbers as JSON: ${base_url}/signals?start=${start}&end=${end}`,
      `the halves of the span, to see a change: ${base_url}/context?start=${start}&end=${middle} and start=${middle}&end=${end}`,
    ];
  }
  if (!first) return [`instances of the last day: ${base_url}/api/v1/instances`];
  const id = first.instance.instance_id;
  const context = (from_ns: bigint, to_ns: bigint, more = "") =>
    `${base_url}/api/v1/signal_context/?start_time_ns=${from_ns}&end_time_ns=${to_ns}&tags=instance.id:${id}${more}`;
  const middle_ns = (asked.from_ns + asked.to_ns) / 2n;
  return [
    `this instance alone: ${context(asked.from_ns, asked.to_ns)}`,
    `${detail} in full: ${
      context(asked.from_ns, asked.to_ns, `&sections=${section}&max_tokens=20000`)
    }`,
    `only findings as data: ${base_url}/api/v1/findings?start_time_ns=${asked.from_ns}&end_time_ns=${asked.to_ns}&tags=instance.id:${id}`,
    `all numbers as JSON: ${base_url}/api/v1/signals?instance_id=${id}&start=${start}&end=${end}`,
    `the halves of the span, to see a change: ${
      context(asked.from_ns, middle_ns)
    } and start_time_ns=${middle_ns}&end_time_ns=${asked.to_ns}`,
  ];
}
