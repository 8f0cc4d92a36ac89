/** Memory of the host: work that stands still for want of it. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import {
  hostOf,
  IDLE,
  idleShare,
  pressure,
  STALLED,
  stalled,
  STALLED_FULL,
} from "./host_evidence.ts";
import { digits, percent } from "./measures.ts";

/** The finding that the host's memory is used up. */
export function memory(facts: InstanceFacts): Finding | null {
  const { memory_used_bytes: used, memory_total_bytes: total, swap_used_bytes: swap } = facts.host;
  const some = stalled(facts, "memory", "some");
  const full = stalled(facts, "memory", "full");
  const grew = swap ? swap.last - swap.min : 0;
  const isStalled = (some ?? 0) >= STALLED || (full ?? 0) >= STALLED_FULL;
  if (!isStalled && !(used && total && used.mean > 0.97 * total && grew > 0.01 * total)) {
    return null;
  }
  return {
    id: "host/memory",
    class: "memory",
    title:
      `Memory pressure: the host's memory is ${
        used && total ? percent(used.mean / total) : ""
      } full` +
      `${
        swap && swap.mean > 0 ? `, ${digits(swap.mean / 1e9)} GB are swapped out` : ""
      }, and tasks wait for it`,
    share_at_stake: full ?? idleShare(facts) ?? some,
    confidence: isStalled ? "high" : "medium",
    doubt: "",
    evidence: [
      ...(used && total
        ? [{
          metric: "host_memory_usage_bytes",
          tags: {},
          value: 100 * used.mean / total,
          unit: "%",
          what: "of the host's memory in use",
        }]
        : []),
      ...(swap
        ? [{
          metric: "host_swap_usage_bytes",
          tags: {},
          value: swap.mean / 1e9,
          unit: "GB",
          what: "swapped out, mean",
        }]
        : []),
      ...pressure("memory", "some", some),
      ...pressure("memory", "full", full),
    ],
    remedies: [
      "fewer or smaller processes: loader workers, pinned buffers, caches, offloaded weights",
      "a host with more memory",
    ],
    verify: "host_pressure_stall_microseconds of memory falls to 0 and swap does not grow",
    where: hostOf(facts),
    explains: [...IDLE, "gpu_idle/storage", "host/storage"],
  };
}
