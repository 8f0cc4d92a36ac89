/** The local `/signals`: the snapshot of everything since the instance start. */

import {
  encode,
  type Selection,
  type Signals,
  snapshot,
  type Tags,
  type Window,
} from "@service/core";
import { selectionParameters } from "@service/core/query";
import { SECOND_NS } from "@service/core/time";
import { gzip } from "../base/gzip.ts";
import { type JsonBody, type Route, route } from "./route.ts";

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

/** The route of `/signals`; `refresh` brings `total` up to now where that takes milliseconds. */
export function signalsRoute(
  options: SignalsOptions & { refresh?: () => Promise<void> | undefined },
): Route {
  const { total, refresh } = options;
  const cache = new Map<string, Promise<JsonBody>>();
  let cached_ns = -1n;
  return route({
    method: "GET",
    path: "/signals",
    query: selectionParameters,
    async handle({ query, search, acceptsGzip }) {
      const refreshing = refresh?.();
      if (refreshing) await refreshing;
      if (cached_ns !== total.to_ns || cache.size >= MAX_CACHED) cache.clear();
      cached_ns = total.to_ns;
      const key = `${acceptsGzip} ${search}`;
      const body = cache.get(key) ?? toBody(localSignals(options, query), acceptsGzip);
      cache.set(key, body);
      return await body;
    },
  });
}

async function toBody(signals: Signals, isCompressed: boolean): Promise<JsonBody> {
  const text = encode(signals);
  return { bytes: isCompressed ? await gzip(text) : new TextEncoder().encode(text), isCompressed };
}
