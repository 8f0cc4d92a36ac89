/** Metrics of a device's links: PCIe and NVLink. */

import { counter, gauge } from "./device_entry.ts";
import type { CatalogueEntry } from "./entry.ts";

/** Kinds of errors on NVLink, and their meaning. */
const LINK_ERRORS: readonly [string, string][] = [
  ["replay", "Transfers over NVLink that were repeated."],
  ["recovery", "Times that an NVLink was trained again after an error."],
  ["crc", "Transfers over NVLink that arrived damaged."],
];

/** The catalogue's entries of PCIe and NVLink. */
export const DEVICE_LINK_METRICS: readonly CatalogueEntry[] = [
  ...(["tx", "rx"] as const).flatMap((way) => [
    {
      ...gauge,
      name: `gpu_pcie_throughput_${way}_kilobytes_per_second`,
      unit: "kilobytes_per_second",
      meaning: `Bytes that the device ${way === "tx" ? "sends" : "receives"} over PCIe.`,
      read: "An average over the last second where the device counts bytes, else over 20 " +
        "milliseconds. One direction of generation 5 with 16 lanes carries about 55,000,000 in " +
        "practice, generation 4 half of it. Everything is in it: copies, launches, other processes.",
      act:
        "Near the link's limit: fewer copies, or overlap them with work. See cuda_memcpy_bytes " +
        "for whose they are.",
    },
    {
      ...gauge,
      name: `gpu_nvlink_throughput_${way}_kilobytes_per_second`,
      unit: "kilobytes_per_second",
      meaning:
        `Bytes that the device ${way === "tx" ? "sends" : "receives"} over all its NVLinks, ` +
        "averaged over the last second.",
      read: "Only Hopper and later devices measure it; elsewhere read the increase of " +
        `gpu_nvlink_throughput_data_${way}_kibibytes. An H100 carries 450,000,000 in one direction.`,
      act:
        "Near the limit in collectives: overlap them with work, or send fewer bytes. Low while " +
        "collectives take long: one slow rank holds up the others.",
    },
    {
      ...counter,
      name: `gpu_nvlink_throughput_data_${way}_kibibytes`,
      unit: "kibibytes",
      meaning: `Payload that the device has ${way === "tx" ? "sent" : "received"} over all its ` +
        "NVLinks since the start of the run.",
      read: "Divide by profiler_covered_nanoseconds for the bandwidth. All processes are in it.",
      act: "Compare it with what the parallelism should send: much more is a layout that moves " +
        "activations or weights needlessly.",
    },
    {
      ...counter,
      name: `gpu_nvlink_throughput_raw_${way}_kibibytes`,
      unit: "kibibytes",
      meaning:
        `Payload and protocol that the device has ${way === "tx" ? "sent" : "received"} over ` +
        "all its NVLinks since the start of the run.",
      read: `Far above gpu_nvlink_throughput_data_${way}_kibibytes: many small transfers.`,
      act: "Larger messages: bucket gradients, fuse collectives.",
    },
  ]),
  {
    ...gauge,
    name: "gpu_pcie_link_generation",
    unit: null,
    meaning: "Generation of PCIe that the link uses now.",
    read: "An idle device lowers it to save power: compare it with gpu_pcie_max_link_generation " +
      "under load only.",
    act: "Lower under load: a riser, a slot or a setting of the firmware; copies have half the " +
      "bandwidth for each generation.",
  },
  {
    ...gauge,
    name: "gpu_pcie_link_width",
    unit: null,
    meaning: "Number of PCIe lanes that the link uses now.",
    read: "Below gpu_pcie_max_link_width: the link is degraded, idle or not.",
    act: "Seat the device again, or use another slot; bandwidth falls with the lanes.",
  },
  {
    ...gauge,
    name: "gpu_pcie_max_link_generation",
    unit: null,
    meaning: "Highest generation of PCIe that the device and its slot both have.",
    read: "Constant. Below device.pcie_max_generation of the device's resource: the slot or the " +
      "processor is older.",
    act: "None; compare gpu_pcie_link_generation with it.",
  },
  {
    ...gauge,
    name: "gpu_pcie_max_link_width",
    unit: null,
    meaning: "Most PCIe lanes that the device and its slot both have.",
    read: "Constant. 8 or less on a data centre device: the slot shares its lanes.",
    act: "None; compare gpu_pcie_link_width with it.",
  },
  {
    ...counter,
    name: "gpu_pcie_replay_counter",
    unit: null,
    meaning: "Transfers over PCIe that were repeated, since the start of the run.",
    read:
      "0 is normal, a few are harmless. Many in a second: the link is bad, and copies are slow.",
    act: "Seat the device again, exchange the riser or cable.",
  },
  {
    ...gauge,
    name: "gpu_nvlink_link_count",
    unit: null,
    meaning: "Number of NVLinks that the device has.",
    read: "0: it has none, and talks to others over PCIe. An H100 has 18.",
    act: "None; compare gpu_nvlink_active_links with it.",
  },
  {
    ...gauge,
    name: "gpu_nvlink_active_links",
    unit: null,
    meaning: "Number of NVLinks that are up.",
    read:
      "Below gpu_nvlink_link_count: bandwidth between devices is lost, unless the board leaves " +
      "these links unconnected; compare it with its neighbours.",
    act:
      "nvidia-smi nvlink --status names the link; on a system with switches, see its fabric manager.",
  },
  ...LINK_ERRORS.map(([kind, meaning]) => ({
    ...counter,
    name: `gpu_nvlink_errors_${kind}`,
    unit: null,
    meaning: `${meaning} All links together, since the start of the run.`,
    read:
      "0 is normal. Growing: a link is bad, and collectives wait for it. Absent: the device or " +
      "its driver does not count them.",
    act: "nvidia-smi nvlink --errorcounters names the link; have the board or its cables checked.",
  })),
];
