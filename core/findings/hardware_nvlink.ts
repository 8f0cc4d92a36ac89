/** Links between devices that are down or have errors. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { BASE } from "./hardware_base.ts";
import { digits, ofDevices, sum, workedDevices } from "./measures.ts";

/** The finding that links between devices are down or have errors. */
export function nvlink(facts: InstanceFacts): Finding | null {
  const all = workedDevices(facts);
  const bad = all.filter(({ nvlinks, nvlink_errors }) =>
    (nvlinks !== null && nvlinks.active < nvlinks.all) || (nvlink_errors ?? 0) > 0
  );
  const [worst] = bad;
  if (!worst) return null;
  return {
    ...BASE,
    id: "hardware/nvlink",
    title: worst.nvlinks && worst.nvlinks.active < worst.nvlinks.all
      ? `NVLink of ${
        ofDevices(bad, all)
      }: ${worst.nvlinks.active} of ${worst.nvlinks.all} links are up`
      : `NVLink of ${ofDevices(bad, all)} had ${
        digits(sum(bad.map((one) => one.nvlink_errors ?? 0)))
      } errors`,
    share_at_stake: null,
    confidence: "medium",
    doubt: "how much of the communication goes over the missing links is not measured",
    evidence: [
      {
        metric: "gpu_nvlink_active_links",
        tags: { "device.uuid": worst.uuid },
        value: worst.nvlinks?.active ?? 0,
        unit: "links",
        what: "links that are up",
      },
      {
        metric: "gpu_nvlink_link_count",
        tags: { "device.uuid": worst.uuid },
        value: worst.nvlinks?.all ?? 0,
        unit: "links",
        what: "links that there are",
      },
      ...(worst.nvlink_errors === null ? [] : [{
        metric: "gpu_nvlink_errors_replay",
        tags: { "device.uuid": worst.uuid },
        value: worst.nvlink_errors,
        unit: "errors",
        what: "errors of all kinds",
      }]),
    ],
    remedies: [
      "nvidia-smi nvlink -s and -e, the fabric manager's log; reset the GPU or exchange the board",
    ],
    verify: "all links are up and the counters stay where they are",
    where: ofDevices(bad, all),
    explains: ["collectives/exposed"],
  };
}
