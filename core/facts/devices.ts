/** Devices: their activity, and what their driver told, each as one set of facts. */

import { type DataType, type DevicePeaks, devicePeaks } from "../names/mod.ts";
import { rounded } from "../sum.ts";
import type { Tags } from "../tags.ts";
import { activityOf } from "./activity.ts";
import type { DeviceFacts, Link } from "./device_facts.ts";
import { type KernelLabel, kernelLabels } from "./kernel_label.ts";
import { inUnit, type Level } from "./level.ts";
import type { Reading } from "./reading.ts";

const KIB = 1024;
const PEAK = /^device\.peak_(\w+)_tera(?:flops|ops)$/;

/** The devices that a reading names, by index and then by uuid. */
export function devicesOf(
  reading: Reading,
  labelOf: (symbol: string) => KernelLabel = kernelLabels(),
): DeviceFacts[] {
  const attributes = new Map<string, Tags>();
  for (const { kind, tags, attributes: own } of reading.window.resources.values()) {
    if (kind === "device" && tags["device.uuid"]) attributes.set(tags["device.uuid"], own);
  }
  for (const { tags } of reading.window.series.values()) {
    const uuid = tags["device.uuid"];
    if (uuid !== undefined && !attributes.has(uuid)) attributes.set(uuid, {});
  }
  return Array.from(
    attributes,
    ([uuid, own]) =>
      deviceOf(reading, { uuid, attributes: own, activity: activityOf(reading, uuid, labelOf) }),
  )
    .sort((a, b) => (a.index ?? Infinity) - (b.index ?? Infinity) || (a.uuid < b.uuid ? -1 : 1));
}

function deviceOf(
  reading: Reading,
  { uuid, attributes, activity }: Pick<DeviceFacts, "uuid" | "attributes" | "activity">,
): DeviceFacts {
  const of = { "device.uuid": uuid };
  const level = (name: string) => reading.level(`gpu_${name}`, of);
  const share = (name: string) => inUnit(level(`${name}_percent`), (value) => value * 0.01);
  const newest = (name: string) => reading.newest(`gpu_${name}`, of);
  const total = (name: string) => reading.total(`gpu_${name}`, of);
  const peaks = peaksOf(attributes);
  const number = (name: string) => numberOf(attributes[`device.${name}`]);
  const used = level("memory_used_bytes");
  const links = newest("nvlink_link_count");
  return {
    uuid,
    index: number("index"),
    name: attributes["device.name"] ?? null,
    attributes,
    peaks,
    peak_memory_bytes_per_second: times(
      number("peak_memory_gigabytes_per_second") ?? peaks?.memory_gigabytes_per_second ?? null,
      1e9,
    ),
    activity,
    utilization: share("utilization"),
    sm: share("sm_utilization"),
    occupancy: share("sm_occupancy"),
    tensor: share("tensor_utilization"),
    dram: share("dram_bandwidth_utilization"),
    fp32: share("fp32_utilization"),
    memory_used_bytes: used,
    memory_total_bytes: newest("memory_total_bytes") ?? number("memory_total_bytes"),
    power_watts: powerOf(level("power_usage_watts"), total("energy_joules"), reading.seconds),
    power_limit_watts: newest("power_management_limit_watts"),
    default_power_limit_watts: number("default_power_limit_watts"),
    clock_megahertz: level("clock_sm_megahertz"),
    max_clock_megahertz: newest("max_clock_sm_megahertz"),
    temperature: level("temperature_celsius"),
    throttled: throttledOf(reading, of),
    pcie: pcieOf(reading, of, attributes),
    nvlink_bytes_per_second: nvlinkOf(reading, of),
    nvlinks: links ? { active: newest("nvlink_active_links") ?? links, all: links } : null,
    nvlink_errors: sumOf(
      ["replay", "recovery", "crc", "minor", "major", "fatal"].map((kind) =>
        total(`nvlink_errors_${kind}`)
      ),
    ),
    ecc: {
      corrected: total("ecc_errors_corrected_volatile") ?? total("ecc_errors_corrected_aggregate"),
      uncorrected: total("ecc_errors_uncorrected_volatile") ??
        total("ecc_errors_uncorrected_aggregate"),
    },
    xids: total("xid_critical_errors"),
  };
}

/** The peaks that the attributes tell, and those of the table where they tell none. */
function peaksOf(attributes: Tags): DevicePeaks | null {
  const table = devicePeaks(attributes);
  const told: Partial<Record<DataType, number>> = {};
  for (const [name, value] of Object.entries(attributes)) {
    const type = PEAK.exec(name)?.[1];
    const peak = numberOf(value);
    if (type !== undefined && peak !== null) told[type as DataType] = peak;
  }
  const memory = numberOf(attributes["device.peak_memory_gigabytes_per_second"]) ??
    table?.memory_gigabytes_per_second;
  if (memory === undefined) return table;
  return {
    memory_gigabytes_per_second: memory,
    teraflops: { ...table?.teraflops, ...told },
  };
}

/** The mean power is exact where the energy is counted. */
function powerOf(level: Level | null, joules: number | null, seconds: number): Level | null {
  if (!level || !joules || seconds <= 0) return level;
  return { ...level, mean: joules / seconds };
}

/** Shares of the time by reason, the greatest first; `null` where none was measured. */
function throttledOf(reading: Reading, of: Tags): DeviceFacts["throttled"] {
  const counters = reading.series("gpu_throttled_nanoseconds", of);
  if (counters.length === 0 || reading.seconds <= 0) return null;
  return counters.flatMap((series) => {
    if (series.type !== "counter") return [];
    const share = Math.min(1, rounded(series.total) / 1e9 / reading.seconds);
    return share > 0 ? [{ reason: series.tags.reason ?? "unknown", share }] : [];
  }).sort((a, b) => b.share - a.share || (a.reason < b.reason ? -1 : 1));
}

function pcieOf(reading: Reading, of: Tags, attributes: Tags): Link {
  const generation = reading.level("gpu_pcie_link_generation", of);
  const rate = (way: string) =>
    inUnit(
      reading.level(`gpu_pcie_throughput_${way}_kilobytes_per_second`, of),
      (value) => value * 1e3,
    );
  return {
    // A device that rests lowers its link: the highest that was seen is what work gets.
    generation: generation?.max ?? null,
    max_generation: reading.newest("gpu_pcie_max_link_generation", of) ??
      numberOf(attributes["device.pcie_max_generation"]),
    width: reading.newest("gpu_pcie_link_width", of),
    max_width: reading.newest("gpu_pcie_max_link_width", of) ??
      numberOf(attributes["device.pcie_max_width"]),
    received_bytes_per_second: rate("rx"),
    sent_bytes_per_second: rate("tx"),
    replays: reading.total("gpu_pcie_replay_counter", of),
  };
}

function nvlinkOf(reading: Reading, of: Tags): number | null {
  const counted = sumOf(
    ["rx", "tx"].map((way) => reading.rate(`gpu_nvlink_throughput_data_${way}_kibibytes`, of)),
  );
  if (counted !== null) return counted * KIB;
  const rates = ["rx", "tx"].map((way) =>
    reading.level(`gpu_nvlink_throughput_${way}_kilobytes_per_second`, of)?.mean ?? null
  );
  return times(sumOf(rates), 1e3);
}

function numberOf(text: string | undefined): number | null {
  const value = Number(text?.trim() || NaN);
  return Number.isFinite(value) ? value : null;
}

function times(value: number | null, factor: number): number | null {
  return value === null ? null : value * factor;
}

/** The sum of what is measured; `null` where nothing is. */
function sumOf(values: readonly (number | null)[]): number | null {
  const measured = values.filter((value) => value !== null);
  return measured.length > 0 ? measured.reduce((sum, value) => sum + value, 0) : null;
}
