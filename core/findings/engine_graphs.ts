/** Graphs of an engine: decode steps that are launched kernel by kernel. */

import { named } from "../quoted.ts";
import type { EngineFacts, InstanceFacts } from "../facts/mod.ts";
import { BASE, requests } from "./engine_evidence.ts";
import type { Finding } from "./finding.ts";
import {
  busyOf,
  busyShare,
  computeSeconds,
  mean,
  percent,
  sum,
  workedDevices,
} from "./measures.ts";

/** Share of the GPU's time in graphs from which on decoding runs in them. */
const GRAPHS_SHARE = 0.2;

/** The finding that decoding runs without graphs. */
export function eager(facts: InstanceFacts, one: EngineFacts): Finding | null {
  if (one.uses_graphs !== false) return null;
  const devices = workedDevices(facts);
  const idle = devices.length > 0 ? 1 - mean(devices.map(busyShare)) : null;
  // Graphs that run are on, whatever a gauge says of the newest batch.
  const inGraphs = sum(
    devices.flatMap(({ activity }) => activity.graphs.map((one) => one.seconds)),
  );
  if (inGraphs > GRAPHS_SHARE * sum(devices.map(computeSeconds))) return null;
  const flag = facts.workload.flags.find(([name]) => /eager|disable-cuda-graph/.test(name))?.[0];
  return {
    ...BASE,
    id: "engine/graphs_off",
    title:
      `CUDA graphs are off${
        flag ? ` (${named(flag, 60)})` : ""
      }: each decode step launches its kernels one by one` +
      (idle === null ? "" : `, and the GPU is idle ${percent(idle)} of the time`),
    share_at_stake: idle === null ? null : 0.9 * idle,
    confidence: idle !== null && idle > 0.15 ? "high" : "medium",
    doubt: "",
    evidence: [
      ...(devices.length === 0 || devices[0]!.activity.source !== "cuda" ? [] : [{
        metric: "cuda_graphs_nanoseconds",
        tags: {},
        value: devices.reduce((sum, { activity }) => sum + activity.graphs.length, 0),
        unit: "graphs",
        what: "graphs that ran",
      }]),
      ...(idle === null ? [] : [busyOf(1 - idle, "share of the time with work")]),
      requests(one, "running"),
    ],
    remedies: [
      `start without ${
        flag ? named(flag, 60) : "the option that disables graphs"
      }, if memory allows`,
    ],
    verify:
      "cuda_graphs_nanoseconds has frames, time between tokens falls and the busy share rises",
    explains: [
      "gpu_idle/launch_bound",
      "gpu_idle/host_bound",
      "gpu_idle/sync_bound",
      "gpu_idle/unexplained",
      "small_kernels",
    ],
  };
}
