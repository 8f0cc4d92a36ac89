/** The local `/signals`: the snapshot of everything since the instance start, or of a span. */

import {
  encode,
  type ErrorEntry,
  type Selection,
  type Signals,
  snapshot,
  type Tags,
  type Window,
} from "@service/core";
import type { Interval } from "@service/core/gaps";
import { selectionParameters } from "@service/core/query";
import { SECOND_NS, secondsFromNs } from "@service/core/time";
import { gzip } from "../base/gzip.ts";
import { type JsonBody, type Route, route } from "./route.ts";
import { spanOf, spanParameters, type WindowSource } from "./windows.ts";

/** The measurements of an instance, and its description. */
export interface SignalsOptions {
  /** Everything since the instance start. */
  total: Window;
  context: Tags;
  version: string;
  now_ns: () => bigint;
}

/** A series that was not updated for longer than this leaves the snapshot. */
const STALE_NS = 600n * SECOND_NS;

/** Answers of one tick that are kept, each for another query or encoding. */
const MAX_CACHED = 16;

/** The payload of the local endpoint: everything since the instance start, without stale series. */
export function localSignals(
  { total, context, version, now_ns }: SignalsOptions,
  selection: Selection = {},
): Signals {
  return snapshot(total, {
    profiler: { version },
    context,
    updatedSince_ns: now_ns() - STALE_NS,
    selection,
  });
}

/** The measurements by time, and a way to bring them up to now. */
export interface SignalsRouteOptions extends SignalsOptions {
  windows: WindowSource;
  /** Brings `total` and `windows` up to now where that takes milliseconds. */
  refresh?: () => Promise<void> | undefined;
}

/** The route of `/signals`; every request asks for a refresh. */
export function signalsRoute(options: SignalsRouteOptions): Route {
  const { total, refresh, now_ns } = options;
  const cache = new Map<string, Promise<JsonBody>>();
  let cached_ns = -1n;
  return route({
    method: "GET",
    path: "/signals",
    query: { ...selectionParameters, ...spanParameters },
    async handle({ query, search, acceptsGzip }) {
      const refreshing = refresh?.();
      if (refreshing) await refreshing;
      if (cached_ns !== total.to_ns || cache.size >= MAX_CACHED) cache.clear();
      cached_ns = total.to_ns;
      const span = spanOf(query, { ...total, now_ns: now_ns() });
      const key = `${acceptsGzip} ${search}`;
      const body = cache.get(key) ?? toBody(
        span ? spanSignals(options, span, query) : localSignals(options, query),
        acceptsGzip,
      );
      cache.set(key, body);
      return await body;
    },
  });
}

/** The payload of a span: all series with data in it. */
async function spanSignals(
  { total, windows, context, version }: SignalsRouteOptions,
  span: Interval,
  selection: Selection,
): Promise<Signals> {
  const isWhole = span.from_ns <= total.from_ns && total.to_ns <= span.to_ns;
  const { window, payload_ns, gaps } = isWhole
    ? { window: total, payload_ns: total.to_ns, gaps: [] }
    : await windows.read(span, selection);
  const payload = snapshot(window, { profiler: { version }, context, payload_ns, selection });
  payload.errors.unshift(...gaps.map((gap) => warningOf(gap, payload_ns)));
  return payload;
}

/** The warning of a gap, which begins after the start of the span. */
function warningOf({ from_ns, to_ns }: Interval, log_ns: bigint): ErrorEntry {
  return {
    level: "warning",
    message: `what was measured from ${secondsFromNs(from_ns)} to ${secondsFromNs(to_ns)} ` +
      "(epoch seconds) is not kept any more: the totals lack it",
    exception: "",
    log_ns,
  };
}

async function toBody(
  signals: Signals | Promise<Signals>,
  isCompressed: boolean,
): Promise<JsonBody> {
  const text = encode(await signals);
  return { bytes: isCompressed ? await gzip(text) : new TextEncoder().encode(text), isCompressed };
}
