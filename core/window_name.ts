/** Names of windows: the one grammar by which a reader says which part of a run is meant. */

import type { Interval } from "./gaps.ts";
import { LAST_NS, nsFromSeconds, SECOND_NS } from "./time.ts";

/** A part of a run, as it is named. */
export type WindowName =
  | { readonly kind: "all" }
  | { readonly kind: "steady" }
  | { readonly kind: "last"; readonly length_ns: bigint }
  | { readonly kind: "span"; readonly span: Interval };

const RULE = "must be all, steady, last 60s, or FROM..TO in epoch seconds or RFC 3339 " +
  "(2026-11-21T20:40:00Z..20:45)";

/**
 * The window that `text` names: `all`, `steady` (after start-up), `last 60s` (or `ms`, `m`, `h`; back from
 * the newest data), or `FROM..TO`, each epoch seconds or RFC 3339. `TO` may be a time of day, on the day
 * of `FROM`.
 *
 * @throws {RangeError} If the text names none; its message says the rule.
 */
export function parseWindowName(text: string): WindowName {
  const name = text.trim().toLowerCase();
  if (name === "all" || name === "steady") return { kind: name };
  const last = /^last\s+(\d{1,10}(?:\.\d{1,9})?)\s*(ms|s|m|min|h)$/.exec(name);
  if (last) return { kind: "last", length_ns: lengthOf(last[1]!, last[2]!, text) };
  const [from, to, ...more] = text.trim().split("..");
  if (!from || !to || more.length > 0) throw fault(text);
  const from_ns = instantOf(from, text);
  const to_ns = instantOf(isTimeOfDay(to) ? onDayOf(from, to) : to, text);
  if (from_ns >= to_ns) throw new RangeError(`must begin before it ends: got ${quote(text)}`);
  return { kind: "span", span: { from_ns, to_ns } };
}

/** The span that a name means, of a run whose data is of `data`. */
export function spanOfWindow(name: WindowName, data: Interval): Interval {
  switch (name.kind) {
    case "all":
    case "steady":
      return data;
    case "last": {
      const from_ns = data.to_ns - name.length_ns;
      return { from_ns: from_ns > data.from_ns ? from_ns : data.from_ns, to_ns: data.to_ns };
    }
    case "span":
      return name.span;
  }
}

const UNITS: Readonly<Record<string, bigint>> = {
  ms: SECOND_NS / 1000n,
  s: SECOND_NS,
  m: 60n * SECOND_NS,
  min: 60n * SECOND_NS,
  h: 3600n * SECOND_NS,
};

function lengthOf(number: string, unit: string, text: string): bigint {
  const length_ns = nsFromSeconds(number, "seconds") * UNITS[unit]! / SECOND_NS;
  if (length_ns <= 0n) throw new RangeError(`must be longer than 0: got ${quote(text)}`);
  return length_ns;
}

/** Epoch seconds, or RFC 3339 with a zone. */
function instantOf(part: string, text: string): bigint {
  const word = part.trim();
  if (/^\d+(?:\.\d+)?$/.test(word)) return nsFromSeconds(word);
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(
    word,
  );
  const epoch_ms = match ? Date.parse(`${match[1]}${match[3]}`.toUpperCase()) : NaN;
  if (Number.isNaN(epoch_ms) || epoch_ms < 0) throw fault(text);
  const epoch_ns = BigInt(epoch_ms) * 1_000_000n + BigInt((match![2] ?? "").padEnd(9, "0"));
  if (epoch_ns > LAST_NS) throw fault(text);
  return epoch_ns;
}

function isTimeOfDay(text: string): boolean {
  return /^\s*\d\d:\d\d(?::\d\d)?\s*$/.test(text);
}

/** A time of day as an instant, on the day and in the zone of `from`. */
function onDayOf(from: string, time: string): string {
  const match = /^(\d{4}-\d\d-\d\dT).*?(Z|[+-]\d\d:\d\d)$/i.exec(from.trim());
  return match ? `${match[1]}${time.trim()}${match[2]}` : time;
}

function fault(text: string): RangeError {
  return new RangeError(`${RULE}: got ${quote(text)}`);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
