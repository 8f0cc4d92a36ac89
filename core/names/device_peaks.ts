/** Peaks of devices: arithmetic by data type, and memory bandwidth, for a roofline. */

import type { Tags } from "../tags.ts";
import type { DeviceModel, DevicePeaks } from "./device_model.ts";
import { NVIDIA_DATACENTER } from "./nvidia_datacenter.ts";
import { NVIDIA_WORKSTATION } from "./nvidia_workstation.ts";

/** Models of all vendors. */
export const DEVICE_MODELS: readonly DeviceModel[] = [...NVIDIA_DATACENTER, ...NVIDIA_WORKSTATION];

const BRANDS = /^(?:(?:NVIDIA|Tesla|Quadro|GeForce) +)+/;
const GIBIBYTE = 2 ** 30;
/** Least share of a model's memory that its driver reports: ECC in GDDR takes a sixteenth. */
const LEAST_MEMORY = 0.9;
/** Largest share. */
const MOST_MEMORY = 1.02;

/**
 * Peaks of the model that `attributes` describe by `device.name`, `device.multiprocessor_count` and
 * `device.memory_total_bytes`; `null` for a model that is not in the table, for parts of a device (MIG,
 * vGPU), and where a count differs from the model's.
 */
export function devicePeaks(attributes: Tags): DevicePeaks | null {
  const name = attributes["device.name"]?.replace(BRANDS, "");
  return DEVICE_MODELS.find((model) =>
    model.names.includes(name ?? "") && isAsDescribed(model, attributes)
  ) ?? null;
}

/**
 * Memory bandwidth in 10^9 bytes a second. HBM and GDDR move two bits a line in each cycle of the clock
 * that `nvmlDeviceGetMaxClockInfo(NVML_CLOCK_MEM)` tells: "Theoretical Bandwidth" in NVIDIA's CUDA C++
 * Best Practices Guide.
 */
export function memoryBandwidth(megahertz: number, bus_width_bits: number): number {
  return megahertz * 2 * bus_width_bits / 8 / 1000;
}

/**
 * Peaks as attributes of the `device` resource that has `attributes`. The bandwidth of a model that is
 * not in the table follows from its memory clock and bus width; what is not known is absent, and all of a
 * MIG device, which has a part of its parent's.
 */
export function peakAttributes(attributes: Tags): Record<string, string> {
  if ("device.parent_uuid" in attributes) return {};
  const peaks = devicePeaks(attributes);
  const megahertz = Number(attributes["device.memory_clock_megahertz"] ?? 0);
  const bits = Number(attributes["device.memory_bus_width_bits"] ?? 0);
  const bandwidth = peaks?.memory_gigabytes_per_second ??
    Math.round(memoryBandwidth(megahertz, bits) * 10) / 10;
  return {
    ...(bandwidth > 0 && { "device.peak_memory_gigabytes_per_second": String(bandwidth) }),
    ...Object.fromEntries(
      Object.entries(peaks?.teraflops ?? {}).map(([type, value]) => [
        `device.peak_${type}_${type === "int8" ? "teraops" : "teraflops"}`,
        String(value),
      ]),
    ),
  };
}

function isAsDescribed(model: DeviceModel, attributes: Tags): boolean {
  const multiprocessors = attributes["device.multiprocessor_count"];
  const bytes = attributes["device.memory_total_bytes"];
  if (
    model.multiprocessors && multiprocessors && model.multiprocessors !== Number(multiprocessors)
  ) {
    return false;
  }
  if (!model.memory_gibibytes || !bytes) return true;
  const share = Number(bytes) / (model.memory_gibibytes * GIBIBYTE);
  return share >= LEAST_MEMORY && share <= MOST_MEMORY;
}
