/** Metrics of a device's faults: XID events, memory errors, and memory taken out of use. */

import { counter, gauge } from "./device_entry.ts";
import type { CatalogueEntry } from "./entry.ts";

const ECC: readonly CatalogueEntry[] = (["volatile", "aggregate"] as const).flatMap((life) => [
  {
    ...counter,
    name: `gpu_ecc_errors_corrected_${life}`,
    unit: null,
    meaning:
      "Errors in the device's memories that ECC has corrected, since the start of the run, by " +
      `the driver's ${life} counter.`,
    read:
      `The driver's counter lives until ${
        life === "volatile" ? "the driver is loaded again" : "somebody clears it"
      }; only its increase is here. 0 is normal, and so are a few a day. Results are right. Absent: ECC ` +
      "is off, or the device has none.",
    act: "Many an hour: memory that fails; see gpu_remapped_rows_correctable.",
  },
  {
    ...counter,
    name: `gpu_ecc_errors_uncorrected_${life}`,
    unit: null,
    meaning:
      "Errors in the device's memories that ECC has found and could not correct, since the " +
      `start of the run, by the driver's ${life} counter.`,
    read: "It must be 0: above, a process has failed, and errors has the XID.",
    act: "Reset the GPU before it is used again, and exchange it if it happens twice.",
  },
]);

/** The catalogue's entries of faults. */
export const DEVICE_HEALTH_METRICS: readonly CatalogueEntry[] = [
  ...ECC,
  {
    ...counter,
    name: "gpu_xid_critical_errors",
    unit: null,
    meaning:
      "XID events of the device since the start of the run: faults that the driver reports " +
      "with a number.",
    read:
      "0 is normal. errors has each number with its meaning. Not all are of the hardware: 13 and " +
      "31 are most often errors of a program, which may be another one.",
    act: "Do what the entry in errors says.",
  },
  {
    ...gauge,
    name: "gpu_remapped_rows_correctable",
    unit: null,
    meaning: "Rows of memory that were replaced by spare ones after corrected errors, in the " +
      "device's life.",
    read: "A few are normal in years. Absent: a device before Ampere, which retires pages instead.",
    act: "Growing: plan to exchange the device.",
  },
  {
    ...gauge,
    name: "gpu_remapped_rows_uncorrectable",
    unit: null,
    meaning: "Rows of memory that were replaced by spare ones after uncorrected errors, in the " +
      "device's life.",
    read: "A few are normal in years, and cost no speed.",
    act: "Growing: exchange the device.",
  },
  {
    ...gauge,
    name: "gpu_remapped_rows_pending",
    unit: null,
    meaning: "1 where rows are to be replaced at the next reset, else 0.",
    read: "At 1 the bad row is still in use: errors may come again.",
    act: "Reset the GPU or reboot soon.",
  },
  {
    ...gauge,
    name: "gpu_remapped_rows_failure",
    unit: null,
    meaning: "1 where a row could not be replaced, since no spare one is left, else 0.",
    read: "It must be 0.",
    act: "Exchange the device.",
  },
  {
    ...gauge,
    name: "gpu_retired_pages_single_bit",
    unit: null,
    meaning: "Pages of memory that are not used any more after repeated corrected errors.",
    read:
      "Only devices before Ampere retire pages. 60 of both kinds together is where a device is " +
      "to be exchanged.",
    act: "Growing: exchange the device.",
  },
  {
    ...gauge,
    name: "gpu_retired_pages_double_bit",
    unit: null,
    meaning: "Pages of memory that are not used any more after an uncorrected error.",
    read: "As gpu_retired_pages_single_bit.",
    act: "Growing: exchange the device.",
  },
  {
    ...gauge,
    name: "gpu_retired_pages_pending",
    unit: null,
    meaning: "1 where pages are to be retired when the driver is loaded again, else 0.",
    read: "At 1 the bad page is still in use.",
    act: "Reboot, or load the driver again.",
  },
];
