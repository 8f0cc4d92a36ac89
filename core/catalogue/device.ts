/** Metrics of GPU devices, for all their processes together. */

import type { CatalogueEntry } from "./entry.ts";

/** The catalogue's entries of GPU devices. */
export const DEVICE_METRICS: readonly CatalogueEntry[] = [
  {
    name: "gpu_utilization_percent",
    type: "gauge",
    unit: "percent",
    tags: ["device.uuid", "device.bus_id"],
    meaning: "Share of the driver's last sampling period in which at least one kernel ran.",
    read: "100 does not mean full: one small kernel at a time gives 100 too. It is the whole " +
      "device, other processes included. Absent: the vendor's library could not be asked; 0: idle.",
    act:
      "Low: the GPU waits; look at processor, input and synchronizing. High: look at the kernels " +
      "themselves, and at power and clocks.",
  },
];
