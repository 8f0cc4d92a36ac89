/** Host-bound devices: the thread that feeds them has no time left. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import {
  base,
  busyEvidence,
  type Idle,
  idleShare,
  launchEvidence,
  SATURATED_CPUS,
  threadEvidence,
  threadOf,
} from "./idle_devices.ts";
import { digits, launchesPerSecond, percent, sum, type WorkedDevice } from "./measures.ts";

/** Share of the time in waits from which on a thread has no time for anything else. */
const WAITING_SHARE = 0.9;

/** The finding that the feeding thread has no time left. */
export function hostBound(facts: InstanceFacts, { device, idle, all }: Idle): Finding | null {
  const cpus = threadOf(facts, device);
  if (cpus === null || cpus < SATURATED_CPUS || isWaiting(device)) return null;
  const launches = launchesPerSecond(device);
  return {
    ...base(idle, all),
    id: "gpu_idle/host_bound",
    title: `Host-bound: the GPU is idle ${
      percent(idleShare(idle))
    } of the time, while the process that feeds it uses ${
      cpus < 1.5 ? "a whole processor" : `${digits(cpus)} processors`
    }`,
    confidence: "medium",
    doubt: "which code takes the processor's time is not measured; an engine's scheduler may spin",
    evidence: [
      busyEvidence(idle),
      ...threadEvidence(cpus),
      launchEvidence(device, launches),
    ],
    remedies: [
      "profile the process (py-spy record -p PID, perf) and move work out of the loop that launches",
      "CUDA graphs or torch.compile: fewer launches for the same work",
      "larger batches: the host's work for a step is the same",
    ],
    verify:
      "py-spy dump shows what the thread does while the GPU idles; the busy share rises after the change",
    explains: [] as string[],
  };
}

/** Whether a thread waits for the device in nearly all of the time: waiting may take a whole processor too. */
function isWaiting({ activity }: WorkedDevice): boolean {
  const waited = sum(activity.waits.map(({ seconds }) => seconds)) / activity.captured_seconds;
  return waited >= WAITING_SHARE;
}
