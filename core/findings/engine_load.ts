/** Load of an engine: whether anything was asked of it at all. */

import type { EngineFacts, InstanceFacts } from "../facts/mod.ts";
import { BASE, metricOf, requests } from "./engine_evidence.ts";
import type { Finding } from "./finding.ts";
import { busyShare, digits, mean, workedDevices } from "./measures.ts";

/** The finding that nothing was asked of an engine. */
export function noLoad(facts: InstanceFacts, one: EngineFacts): Finding | null {
  const { running, waiting, requests_per_second } = one;
  if (!running || running.mean >= 0.05 || (waiting?.mean ?? 0) >= 0.05) return null;
  const devices = workedDevices(facts);
  if (devices.length > 0 && mean(devices.map(busyShare)) > 0.05) return null;
  return {
    ...BASE,
    id: "no_load",
    title: `No load: the engine worked on ${
      digits(running.mean)
    } requests on average, and none waited`,
    share_at_stake: null,
    confidence: "high",
    doubt: "",
    evidence: [
      requests(one, "running"),
      requests(one, "waiting"),
      {
        metric: metricOf(one, "requests", "request"),
        tags: one.tags,
        value: requests_per_second ?? 0,
        unit: "requests/s",
        what: "requests that finished",
      },
    ],
    remedies: ["measure again under the load that matters"],
    verify: "requests that run are above 0 while it is measured",
    explains: [
      "gpu_idle/unexplained",
      "gpu_idle/host_bound",
      "gpu_idle/sync_bound",
      "gpu_idle/pauses",
      "host/one_thread",
    ],
  };
}
