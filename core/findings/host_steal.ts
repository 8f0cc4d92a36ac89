/** Steal: processors of a virtual machine that its host gives to others. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { gained, hostOf, IDLE, idleShare, pressure, stalled } from "./host_evidence.ts";
import { busyOf, percent } from "./measures.ts";

/** Steal of a few percent is usual on shared machines. */
const STOLEN = 0.1;

/** The finding that the host of a virtual machine takes its processors away. */
export function steal(facts: InstanceFacts): Finding | null {
  const stolen = facts.host.cpu_modes.steal?.mean ?? 0;
  if (stolen < STOLEN) return null;
  const idle = idleShare(facts);
  return {
    id: "host/steal",
    class: "host",
    title:
      `Stolen processors: the virtual machine's host gives ${
        percent(stolen)
      } of the processors' time to others` +
      (idle === null ? "" : `, and the GPU is idle ${percent(idle)} of the time`),
    share_at_stake: idle ?? stolen,
    confidence: "high",
    doubt: "",
    evidence: [
      {
        metric: "host_cpu_mode_percent",
        tags: { mode: "steal" },
        value: 100 * stolen,
        unit: "%",
        what: "of the processors' time taken away",
      },
      ...pressure("cpu", "some", stalled(facts, "cpu", "some")),
      ...(idle === null ? [] : [busyOf(1 - idle)]),
    ],
    remedies: [
      "a machine with processors of its own (dedicated or bare metal), or another host",
      "fewer threads that have to run at the same time",
    ],
    verify: `host_cpu_mode_percent of steal falls to 0, and ${gained(idle)}`,
    where: hostOf(facts),
    explains: [...IDLE, "host/neighbours", "host/saturated"],
  };
}
