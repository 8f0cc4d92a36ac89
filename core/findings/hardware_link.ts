/** Links to the host below what they could be. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { BASE } from "./hardware_base.ts";
import { categorySeconds, hostCopySeconds, ofDevices, workedDevices } from "./measures.ts";

import { linkSpeed } from "./transfers.ts";

/** Replays of a link a minute from which on its signal is bad. */
const REPLAYS_PER_MINUTE = 60;

/** A link that carries less than this share of the time costs nothing. */
const LEAST_COPIES = 0.02;

/** The finding that a link to the host is below what it could be. */
export function link(facts: InstanceFacts): Finding | null {
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
  const copies = hostCopySeconds(worst);
  const full = {
    ...worst,
    pcie: { ...pcie, generation: pcie.max_generation, width: pcie.max_width },
  };
  const [now, most] = [linkSpeed(worst), linkSpeed(full)];
  const usesLink = copies / activity.captured_seconds >= LEAST_COPIES ||
    worst.nvlinks === null &&
      categorySeconds(worst, "collective") > LEAST_COPIES * activity.captured_seconds;
  if (!usesLink) return null;
  const lost = now !== null && most !== null && most > 0 ? 1 - now / most : 0;
  return {
    ...BASE,
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
      ...(pcie.replays === null ? [] : [{
        metric: "gpu_pcie_replay_counter",
        tags: { "device.uuid": worst.uuid },
        value: pcie.replays,
        unit: "replays",
        what: "packets sent again",
      }]),
      {
        metric: `${activity.source}_memcpy_nanoseconds`,
        tags: { "device.uuid": worst.uuid },
        value: 100 * copies / activity.captured_seconds,
        unit: "%",
        what: "time in copies to and from the host",
      },
    ],
    remedies: ["reseat the board or its riser, try another slot, look at the BIOS's link settings"],
    verify: "gpu_pcie_link_generation and gpu_pcie_link_width reach their maximum under load",
    where: ofDevices(bad, all),
    explains: [
      "transfers/link",
      "transfers/pageable",
      "transfers/small",
      "collectives/straggler",
      "hosts/straggler",
    ],
  };
}
