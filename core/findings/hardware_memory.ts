/** Memory errors of devices. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { BASE } from "./hardware_base.ts";
import { digits, ofDevices, sum } from "./measures.ts";

/** Corrected errors a day are normal; this many a minute are not. */
const CORRECTED_PER_MINUTE = 1;

/** The finding that device memory has errors. */
export function memoryErrors({ devices, span }: InstanceFacts): Finding | null {
  const minutes = Math.max(1, span.steady_seconds / 60);
  const bad = devices.filter(({ ecc }) =>
    (ecc.uncorrected ?? 0) > 0 || (ecc.corrected ?? 0) / minutes > CORRECTED_PER_MINUTE
  );
  if (bad.length === 0) return null;
  const uncorrected = sum(bad.map(({ ecc }) => ecc.uncorrected ?? 0));
  return {
    ...BASE,
    id: uncorrected > 0 ? "hardware/ecc_uncorrected" : "hardware/ecc_corrected",
    title: uncorrected > 0
      ? `Memory of ${ofDevices(bad, devices)} had ${
        digits(uncorrected)
      } errors that ECC could not correct: results may be lost`
      : `Memory of ${ofDevices(bad, devices)} had ${
        digits(sum(bad.map(({ ecc }) => ecc.corrected ?? 0)))
      } errors that ECC corrected: it may be failing`,
    share_at_stake: null,
    evidence: bad.slice(0, 3).flatMap(({ uuid, ecc }) =>
      (["uncorrected", "corrected"] as const).flatMap((kind) =>
        ecc[kind] === null ? [] : [{
          metric: `gpu_ecc_errors_${kind}_volatile`,
          tags: { "device.uuid": uuid },
          value: ecc[kind],
          unit: "errors",
          what: kind === "corrected" ? "corrected" : "not corrected",
        }]
      )
    ),
    remedies: ["reset the GPU before it is used again; exchange it if it happens twice"],
    verify:
      "the counters stay where they are; nvidia-smi -q -d ECC,ROW_REMAPPER shows rows to be remapped",
    where: ofDevices(bad, devices),
  };
}
