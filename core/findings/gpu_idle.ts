/**
 * Idle devices: what keeps them waiting. A device idles because launching costs more than running,
 * because its process waits for each result, because input does not come, or because the process is busy
 * with something else. What is between two pieces of work tells these apart.
 */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import { base, busyEvidence, type Idle, idleShare, launchEvidence } from "./idle_devices.ts";
import { runningMetrics, steadyCourse } from "./courses.ts";
import { hang } from "./hardware_hang.ts";
import { hostBound } from "./idle_host.ts";
import { inputStarved } from "./idle_input.ts";
import { launchBound } from "./idle_launches.ts";
import { pauses } from "./idle_pauses.ts";
import { shared } from "./idle_shared.ts";
import { syncBound } from "./idle_waits.ts";
import { busyShare, launchesPerSecond, percent, workedDevices } from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Below this share idle time is what steps and batches need to follow each other. */
const IDLE_SHARE = 0.15;

/** The rule. */
export const gpuIdle: Rule = {
  id: "gpu_idle",
  judge(facts): Judgement {
    const all = workedDevices(facts);
    const idle = all.filter((device) => 1 - busyShare(device) >= IDLE_SHARE);
    if (idle.length === 0 || hang(facts) !== null) return NOTHING;
    const [worst] = idle.toSorted((a, b) => busyShare(a) - busyShare(b));
    if (isUnasked(facts, 1 - busyShare(worst!))) return NOTHING;
    const causes = [pauses, launchBound, syncBound, inputStarved, shared, hostBound];
    for (const cause of causes) {
      const found = cause(facts, { device: worst!, idle, all });
      if (found) return { ...NOTHING, findings: [found] };
    }
    return { ...NOTHING, findings: [unexplained(facts, { device: worst!, idle, all })] };
  },
};

/**
 * Whether an engine has too few requests to be busy: then idling is no fault of it. Where it has none in
 * some steps, by the samples of its gauge, idle time beyond those is what is left to explain.
 */
function isUnasked(facts: InstanceFacts, idle: number): boolean {
  const { engines } = facts;
  if (engines.length === 0 || engines.some(({ waiting }) => (waiting?.mean ?? 0) >= 0.1)) {
    return false;
  }
  if (engines.every(({ running }) => running !== null && running.mean < 1)) return true;
  const metrics = runningMetrics(facts);
  const running = steadyCourse(facts, (metric) => metrics.has(metric));
  const without = running.filter((one) => one !== null && one < 0.5).length /
    Math.max(1, running.length);
  // Three deviations of a share that is sampled once a step.
  const error = 3 * Math.sqrt(without * (1 - without) / Math.max(1, running.length));
  return without > 0 && idle - without - error < IDLE_SHARE;
}

function unexplained(_facts: InstanceFacts, { device, idle, all }: Idle): Finding {
  return {
    ...base(idle, all),
    id: "gpu_idle/unexplained",
    title: `The GPU is idle ${
      percent(idleShare(idle))
    } of the time; what it waits for is not in the data`,
    confidence: "low",
    doubt:
      "neither launches, waits, input nor a full processor explain it: it may be a lack of requests, the network, or sleep",
    evidence: [busyEvidence(idle), launchEvidence(device, launchesPerSecond(device))],
    remedies: ["none before the cause is known"],
    verify: "py-spy dump --pid of the process that feeds the GPU, several times while it idles",
    explains: [],
  };
}
