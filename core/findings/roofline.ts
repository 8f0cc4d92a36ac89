/** Roofline: whether work is at the memory's or the tensor cores' limit, and so as fast as it can be. */

import { named } from "../quoted.ts";
import type { Evidence, Judgement, NotKnown } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import { busyOf, busyShare, mean, percent, type WorkedDevice, workedDevices } from "./measures.ts";
import type { Rule } from "./rule.ts";

/** Share of the peak bandwidth that streaming kernels reach in practice: 80 to 90 % is saturated. */
const MEMORY_BOUND = 0.7;
/** Share of the tensor cores' time that large products reach in practice. */
const COMPUTE_BOUND = 0.55;
/** A device that is idle is at no limit. */
const BUSY = 0.8;

/** The rule. */
export const roofline: Rule = {
  id: "roofline",
  judge(facts): Judgement {
    const devices = workedDevices(facts);
    if (devices.length === 0) return NOTHING;
    const measured = devices.filter(({ dram, tensor }) => dram !== null && tensor !== null);
    if (measured.length === 0) return { ...NOTHING, not_known: [unknown(devices)] };
    const busy = mean(measured.map(busyShare));
    if (busy < BUSY) return NOTHING;
    const dram = mean(measured.map((device) => device.dram!.mean)) / busy;
    const tensor = mean(measured.map((device) => device.tensor!.mean)) / busy;
    const evidence: Evidence[] = [
      busyOf(busy, "share of the time with work"),
      {
        metric: "gpu_dram_bandwidth_utilization_percent",
        tags: {},
        value: 100 * dram,
        unit: "%",
        what: "of the peak memory bandwidth while busy",
      },
      {
        metric: "gpu_tensor_utilization_percent",
        tags: {},
        value: 100 * tensor,
        unit: "%",
        what: "of the tensor cores' time while busy",
      },
    ];
    const at = dram >= MEMORY_BOUND && dram >= tensor
      ? `memory-bound at ${
        percent(dram)
      } of the peak bandwidth: fewer bytes (smaller data types, larger batches) is all that would help`
      : tensor >= COMPUTE_BOUND
      ? `compute-bound with the tensor cores at ${
        percent(tensor)
      }: fewer operations or lower precision is all that would help`
      : null;
    if (at === null) return NOTHING;
    const sentence = `the GPU is busy ${
      percent(busy)
    } of the time and at the hardware's limit, ${at}`;
    return { ...NOTHING, sound: [{ rule: "roofline", sentence, evidence }] };
  },
};

function unknown([device]: readonly WorkedDevice[]): NotKnown {
  return {
    rule: "roofline",
    missing: `how near the work is to the device's limits: ${
      device!.name === null ? "this device" : named(device!.name, 60)
    } tells no tensor or memory bandwidth activity`,
    how: device!.activity.source === "rocm"
      ? "rocprof-compute (Omniperf) on the largest kernel"
      : "Nsight Compute on the largest kernel; from Hopper on the driver tells it by itself",
    is_decisive: false,
  };
}
