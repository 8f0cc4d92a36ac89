/** Hardware: errors of devices, links below what they could be, and kernels that never end. */

import type { DeviceFacts, InstanceFacts } from "../facts/mod.ts";
import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import {
  busyShare,
  deviceName,
  digits,
  ofDevices,
  percent,
  sum,
  workedDevices,
} from "./measures.ts";
import type { Rule } from "./rule.ts";
import { linkSpeed } from "./transfers.ts";

/** Corrected errors a day are normal; this many a minute are not. */
const CORRECTED_PER_MINUTE = 1;
/** Replays of a link a minute from which on its signal is bad. */
const REPLAYS_PER_MINUTE = 60;
/** A device that its driver calls busy while nothing of the run is recorded on it. */
const SPINNING = { utilization: 0.9, busy: 0.05 };

/** The rule. */
export const hardware: Rule = {
  id: "hardware",
  judge(facts): Judgement {
    const findings = [memoryErrors(facts), xids(facts), link(facts), nvlink(facts), hang(facts)];
    return { ...NOTHING, findings: findings.filter((one) => one !== null) };
  },
};

const device = { class: "device" as const, confidence: "high" as const, doubt: "", explains: [] };

function memoryErrors({ devices, span }: InstanceFacts): Finding | null {
  const minutes = Math.max(1, span.steady_seconds / 60);
  const bad = devices.filter(({ ecc }) =>
    (ecc.uncorrected ?? 0) > 0 || (ecc.corrected ?? 0) / minutes > CORRECTED_PER_MINUTE
  );
  if (bad.length === 0) return null;
  const uncorrected = sum(bad.map(({ ecc }) => ecc.uncorrected ?? 0));
  return {
    ...device,
    id: uncorrected > 0 ? "hardware/ecc_uncorrected" : "hardware/ecc_corrected",
    title: uncorrected > 0
      ? `Memory of ${ofDevices(bad, devices)} had ${
        digits(uncorrected)
      } errors that ECC could not correct: results may be lost`
      : `Memory of ${ofDevices(bad, devices)} had ${
        digits(sum(bad.map(({ ecc }) => ecc.corrected ?? 0)))
      } errors that ECC corrected: it may be failing`,
    share_at_stake: null,
    evidence: bad.slice(0, 3).flatMap(({ uuid, ecc }) => [
      {
        metric: "gpu_ecc_errors_uncorrected_volatile",
        tags: { "device.uuid": uuid },
        value: ecc.uncorrected ?? 0,
        unit: "errors",
        what: "not corrected",
      },
      {
        metric: "gpu_ecc_errors_corrected_volatile",
        tags: { "device.uuid": uuid },
        value: ecc.corrected ?? 0,
        unit: "errors",
        what: "corrected",
      },
    ]),
    remedies: ["reset the GPU before it is used again; exchange it if it happens twice"],
    verify:
      "the counters stay where they are; nvidia-smi -q -d ECC,ROW_REMAPPER shows rows to be remapped",
    where: ofDevices(bad, devices),
  };
}

function xids({ devices }: InstanceFacts): Finding | null {
  const bad = devices.filter(({ xids }) => (xids ?? 0) > 0);
  if (bad.length === 0) return null;
  return {
    ...device,
    id: "hardware/xid",
    title: `The driver reported ${digits(sum(bad.map(({ xids }) => xids ?? 0)))} critical XIDs on ${
      ofDevices(bad, devices)
    }; errors below say which`,
    share_at_stake: null,
    evidence: bad.slice(0, 4).map(({ uuid, xids }) => (
      {
        metric: "gpu_xid_critical_errors",
        tags: { "device.uuid": uuid },
        value: xids ?? 0,
        unit: "events",
        what: "critical XIDs",
      }
    )),
    remedies: [
      "look the XID up in errors: 31, 43 and 45 mostly come from the program, 48, 63, 74, 79, 94 and 95 from hardware",
    ],
    verify:
      "the same work on another device: an XID of the program comes again, one of the hardware does not",
    where: ofDevices(bad, devices),
  };
}

function link(facts: InstanceFacts): Finding | null {
  const all = workedDevices(facts);
  const minutes = Math.max(1, facts.span.steady_seconds / 60);
  const bad = all.filter(({ pcie }) =>
    (pcie.generation !== null && pcie.max_generation !== null &&
      pcie.generation < pcie.max_generation) ||
    (pcie.width !== null && pcie.max_width !== null && pcie.width < pcie.max_width) ||
    (pcie.replays ?? 0) / minutes > REPLAYS_PER_MINUTE
  );
  const [worst] = bad.toSorted((a, b) => (linkSpeed(a) ?? 0) - (linkSpeed(b) ?? 0));
  if (!worst) return null;
  const { pcie, activity } = worst;
  const copies = sum(
    activity.copies.filter(({ name }) => /host/.test(name)).map(({ seconds }) => seconds),
  );
  const full = {
    ...worst,
    pcie: { ...pcie, generation: pcie.max_generation, width: pcie.max_width },
  };
  const [now, most] = [linkSpeed(worst), linkSpeed(full)];
  const lost = now !== null && most !== null && most > 0 ? 1 - now / most : 0;
  return {
    ...device,
    id: "hardware/link",
    title:
      `Degraded link: ${ofDevices(bad, all)} at PCIe generation ${pcie.generation ?? "?"} with ${
        pcie.width ?? "?"
      } lanes, ` +
      `of generation ${pcie.max_generation ?? "?"} with ${pcie.max_width ?? "?"}`,
    share_at_stake: copies / activity.captured_seconds * lost,
    confidence: "medium",
    doubt: "what the slot can do is not always what the board can",
    evidence: [
      {
        metric: "gpu_pcie_link_generation",
        tags: { "device.uuid": worst.uuid },
        value: pcie.generation ?? 0,
        unit: "generation",
        what: "highest that was seen",
      },
      {
        metric: "gpu_pcie_link_width",
        tags: { "device.uuid": worst.uuid },
        value: pcie.width ?? 0,
        unit: "lanes",
        what: "lanes in use",
      },
      {
        metric: "gpu_pcie_replay_counter",
        tags: { "device.uuid": worst.uuid },
        value: pcie.replays ?? 0,
        unit: "replays",
        what: "packets sent again",
      },
      {
        metric: "cuda_memcpy_nanoseconds",
        tags: { "device.uuid": worst.uuid },
        value: 100 * copies / activity.captured_seconds,
        unit: "%",
        what: "time in copies to and from the host",
      },
    ],
    remedies: ["reseat the board or its riser, try another slot, look at the BIOS's link settings"],
    verify: "gpu_pcie_link_generation and gpu_pcie_link_width reach their maximum under load",
    where: ofDevices(bad, all),
    explains: ["transfers/link", "transfers/pageable"],
  };
}

function nvlink(facts: InstanceFacts): Finding | null {
  const all = workedDevices(facts);
  const bad = all.filter(({ nvlinks, nvlink_errors }) =>
    (nvlinks !== null && nvlinks.active < nvlinks.all) || (nvlink_errors ?? 0) > 0
  );
  const [worst] = bad;
  if (!worst) return null;
  return {
    ...device,
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
      {
        metric: "gpu_nvlink_errors_replay",
        tags: { "device.uuid": worst.uuid },
        value: worst.nvlink_errors ?? 0,
        unit: "errors",
        what: "errors of all kinds",
      },
    ],
    remedies: [
      "nvidia-smi nvlink -s and -e, the fabric manager's log; reset the GPU or exchange the board",
    ],
    verify: "all links are up and the counters stay where they are",
    where: ofDevices(bad, all),
    explains: ["collectives/exposed"],
  };
}

function hang(facts: InstanceFacts): Finding | null {
  const all = workedDevices(facts);
  const bad = all.filter((one) =>
    one.utilization !== null && one.utilization.mean >= SPINNING.utilization &&
    busyShare(one) <= SPINNING.busy
  );
  const [worst] = bad;
  if (!worst) return null;
  return {
    ...device,
    id: "hardware/hang",
    class: "error",
    title:
      `Hang: the driver calls ${ofDevices(bad, all)} ${
        percent(worst.utilization!.mean)
      } busy, while no kernel ended there: ` +
      "one runs without end, as a collective does whose peer is gone",
    share_at_stake: 1 - busyShare(worst),
    confidence: "medium",
    doubt: "another program on the same device looks the same",
    evidence: [
      {
        metric: "gpu_utilization_percent",
        tags: { "device.uuid": worst.uuid },
        value: 100 * worst.utilization!.mean,
        unit: "%",
        what: "share of the time with a kernel, of all programs",
      },
      {
        metric: "gpu_busy_nanoseconds",
        tags: { "device.uuid": worst.uuid },
        value: 100 * busyShare(worst),
        unit: "%",
        what: "share of the time in kernels of this run that ended",
      },
      ...(worst.power_watts
        ? [{
          metric: "gpu_power_usage_watts",
          tags: { "device.uuid": worst.uuid },
          value: worst.power_watts.mean,
          unit: "W",
          what: "mean power: spinning takes little",
        }]
        : []),
    ],
    remedies: [
      "find the rank that is gone or stands still (errors, py-spy dump on each), and why",
      "TORCH_NCCL_ASYNC_ERROR_HANDLING=1 and a timeout of the process group end such a job instead of waiting",
    ],
    verify: `py-spy dump and nvidia-smi on ${
      deviceName(worst)
    }: which process, in which collective`,
    where: ofDevices(bad as DeviceFacts[], all),
    explains: [
      "gpu_idle/sync_bound",
      "gpu_idle/host_bound",
      "gpu_idle/unexplained",
      "gpu_idle/input",
    ],
  };
}
