/** Attributes of a device: what its driver tells, what it refuses, and the peaks of its model. */

import type { Tags } from "@service/core";
import { peakAttributes } from "@service/core/names";
import { type Poller, UUID } from "./poller.ts";

/** The attributes of a device; `null` while its poller does not know it. */
export function deviceAttributes(poller: Poller, uuid: string): Tags | null {
  const told = poller.holding(uuid, "device").at(-1);
  if (!told) return null;
  const { [UUID]: _identity, ...attributes } = told;
  return {
    ...attributes,
    ...peakAttributes(attributes),
    "profiler.unsupported_metrics": unsupportedMetrics(poller, uuid),
  };
}

/** Metrics that the device refuses, each with the reason. */
function unsupportedMetrics(poller: Poller, uuid: string): string {
  return poller.holding(uuid, "unsupported")
    .map(({ metric = "", reason = "" }) => `${metric}: ${reason}`)
    .sort()
    .join("; ");
}
