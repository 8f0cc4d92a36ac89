/** Collectives: time in communication between devices, and the device that makes the others wait. */

import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import {
  categorySeconds,
  computeSeconds,
  digits,
  mean,
  ofDevices,
  percent,
  type WorkedDevice,
  workedDevices,
} from "./measures.ts";
import type { Rule } from "./rule.ts";
import { straggler } from "./straggler.ts";

/** Communication below this share of the time costs less than changing it would win. */
const EXPOSED_SHARE = 0.1;

/** The rule. */
export const collectives: Rule = {
  id: "collectives",
  judge(facts): Judgement {
    const devices = workedDevices(facts).filter((device) =>
      categorySeconds(device, "collective") > 0
    );
    if (devices.length < 2) return NOTHING;
    const found = straggler(devices) ?? exposed(devices);
    return found ? { ...NOTHING, findings: [found] } : NOTHING;
  },
};

function exposed(devices: readonly WorkedDevice[]): Finding | null {
  const shares = devices.map((device) => {
    const { busy_seconds, captured_seconds } = device.activity;
    const collective = categorySeconds(device, "collective");
    // Kernels that add up to more than the busy time ran at the same time.
    const hidden = Math.max(0, computeSeconds(device) - busy_seconds);
    return {
      all: collective / captured_seconds,
      exposed: Math.max(0, collective - hidden) / captured_seconds,
    };
  });
  const share = mean(shares.map((one) => one.exposed));
  if (share < EXPOSED_SHARE) return null;
  const all = mean(shares.map((one) => one.all));
  const nvlink = devices.flatMap(({ nvlink_bytes_per_second }) => nvlink_bytes_per_second ?? []);
  return {
    id: "collectives/exposed",
    class: "collective",
    title: `Communication-bound: collectives take ${percent(all)} of the time, and about ${
      percent(share)
    } of the time nothing runs beside them`,
    share_at_stake: share,
    confidence: "medium",
    doubt:
      "what runs beside a collective is concluded from sums; waiting for late ranks counts as communication",
    evidence: [
      {
        metric: `${devices[0]!.activity.source}_kernels_nanoseconds`,
        tags: {},
        value: 100 * all,
        unit: "%",
        what: "time in collectives, mean of devices",
      },
      {
        metric: `${devices[0]!.activity.source}_kernels_nanoseconds`,
        tags: {},
        value: 100 * share,
        unit: "%",
        what: "time in collectives without other work beside them",
      },
      ...(nvlink.length > 0
        ? [{
          metric: "gpu_nvlink_throughput_data_tx_kibibytes",
          tags: {},
          value: mean(nvlink) / 1e9,
          unit: "GB/s",
          what: "NVLink traffic of a device, both ways",
        }]
        : []),
      {
        metric: `${devices[0]!.activity.source}_kernels_nanoseconds`,
        tags: {},
        value: devices.length,
        unit: "devices",
        what: "devices with collectives",
      },
    ],
    remedies: [
      "overlap communication with compute: gradient buckets, prefetching of FSDP shards, asynchronous tensor parallelism",
      "communicate less often or less: gradient accumulation, lower precision of gradients, a smaller tensor-parallel degree within a node",
      `check the route: NCCL_DEBUG=INFO tells whether NVLink, PCIe or the network is used`,
    ],
    verify: `collectives' share falls while ${
      digits(devices.length)
    } devices do the same work a second or more`,
    where: ofDevices(devices, devices),
    explains: [],
  };
}
