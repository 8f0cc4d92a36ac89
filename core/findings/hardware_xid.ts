/** Critical events of devices, as their driver reports them. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { BASE } from "./hardware_base.ts";
import { digits, ofDevices, sum } from "./measures.ts";

/** The finding that the driver reported critical events. */
export function xids({ devices }: InstanceFacts): Finding | null {
  const bad = devices.filter(({ xids }) => (xids ?? 0) > 0);
  if (bad.length === 0) return null;
  return {
    ...BASE,
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
