/** Metrics of what limits a device's speed: power, heat and clocks. */

import { counter, DEVICE_TAGS, gauge } from "./device_entry.ts";
import type { CatalogueEntry } from "./entry.ts";

/** The catalogue's entries of power, heat and clocks. */
export const DEVICE_POWER_METRICS: readonly CatalogueEntry[] = [
  {
    ...gauge,
    name: "gpu_power_usage_watts",
    unit: "watts",
    meaning: "Power that the whole board draws.",
    read:
      "An average over a second on most data centre devices since Ampere, an instant elsewhere. " +
      "For a span of time divide gpu_energy_joules by its seconds. At " +
      "gpu_power_management_limit_watts: clocks are lowered to stay there. Far below it beside " +
      "gpu_utilization_percent 100: the kernels use little of the device.",
    act: "At the limit: see gpu_throttled_nanoseconds{reason=sw_power_cap}.",
  },
  {
    ...gauge,
    name: "gpu_power_management_limit_watts",
    unit: "watts",
    meaning: "Power limit in force: the lowest of those that are set.",
    read:
      "Below device.default_power_limit_watts of the device's resource: somebody has lowered it, " +
      "or the chassis does.",
    act:
      "Lowered without need: nvidia-smi -pl, as root. Two devices that differ: the slower one has " +
      "the lower limit.",
  },
  {
    ...counter,
    name: "gpu_energy_joules",
    unit: "joules",
    meaning: "Energy that the board has used since the start of the run.",
    read: "Exact where gpu_power_usage_watts is only sampled. Divided by the seconds of " +
      "profiler_covered_nanoseconds it is the mean power; divided by an engine's tokens, the energy " +
      "of a token. All processes are in it, and MIG devices together.",
    act: "To compare two configurations compare energy for the same work, not power.",
  },
  {
    ...gauge,
    name: "gpu_temperature_celsius",
    unit: "celsius",
    meaning: "Temperature of the GPU's die.",
    read: "Harmless until clocks are lowered for it, mostly from 80 to 90 on: " +
      "gpu_throttled_nanoseconds says when and for how long.",
    act: "Much above its neighbours: airflow, fans, or its place in the case.",
  },
  {
    ...gauge,
    name: "gpu_memory_temperature_celsius",
    unit: "celsius",
    meaning: "Temperature of the device's memory.",
    read: "HBM slows down from about 95 on. Absent: the device has no sensor that it tells of.",
    act: "As gpu_temperature_celsius.",
  },
  {
    ...gauge,
    name: "gpu_fan_speed_percent",
    unit: "percent",
    meaning: "Speed of the fan, as the device intends it.",
    read: "Absent: the device is cooled by the chassis, as most in servers are.",
    act: "100 beside a high temperature: clean it, or lower the power limit.",
  },
  {
    ...gauge,
    name: "gpu_clock_sm_megahertz",
    unit: "megahertz",
    meaning: "Clock of the multiprocessors.",
    read:
      "Under load in relation to gpu_max_clock_sm_megahertz: the share of the peak that is left. " +
      "Low and idle is normal.",
    act: "Low under load: gpu_throttled_nanoseconds says for which reason.",
  },
  {
    ...gauge,
    name: "gpu_clock_mem_megahertz",
    unit: "megahertz",
    meaning: "Clock of the device's memory.",
    read: "Mostly at its maximum or, idle, far below. Below device.memory_clock_megahertz of the " +
      "device's resource under load: bandwidth is lost in the same proportion.",
    act: "Low under load: heat or an application clock; see gpu_throttled_nanoseconds.",
  },
  {
    ...gauge,
    name: "gpu_max_clock_sm_megahertz",
    unit: "megahertz",
    meaning: "Highest clock of the multiprocessors.",
    read: "Constant. Heavy kernels seldom reach it within the power limit.",
    act: "None; compare gpu_clock_sm_megahertz with it.",
  },
  {
    ...gauge,
    name: "gpu_clocks_throttle_reasons",
    unit: null,
    meaning: "Reasons for which clocks are lower than they could be now, a bit for each: 0x1 " +
      "gpu_idle, 0x2 applications_clocks_setting, 0x4 sw_power_cap, 0x8 hw_slowdown, 0x10 sync_boost, " +
      "0x20 sw_thermal_slowdown, 0x40 hw_thermal_slowdown, 0x80 hw_power_brake_slowdown, 0x100 " +
      "display_clocks_setting.",
    read: "An instant: use gpu_throttled_nanoseconds for a share of the time.",
    act: "As gpu_throttled_nanoseconds.",
  },
  {
    name: "gpu_throttled_nanoseconds",
    type: "counter",
    unit: "nanoseconds",
    tags: [...DEVICE_TAGS, "reason"],
    meaning: "Time in which clocks were lower than they could be, by reason.",
    read:
      "Divide by profiler_covered_nanoseconds for the share of the time. Reasons overlap, so do " +
      "not add them. gpu_idle is no fault: nothing ran. sw_power_cap: the power limit. " +
      "sw_thermal_slowdown and hw_thermal_slowdown: heat. hw_power_brake_slowdown: the power supply " +
      "asks for it. hw_slowdown: one of the last two, or a sudden load. board_limit and reliability: the " +
      "voltage, current or clock that the board or the chip is made for.",
    act:
      "sw_power_cap for most of the time is what a well used device does; a higher limit or fewer " +
      "watts a kernel (a smaller data type, fewer bytes) are what helps. Heat: cooling. Power brake: " +
      "the host's power supply. On one device of many: that is the slow rank.",
  },
  {
    ...gauge,
    name: "gpu_performance_state",
    unit: null,
    meaning: "Performance state, from 0 (the fastest) to 15; 32 is unknown.",
    read: "Under load 0 to 2. Higher while idle is normal.",
    act: "High under load: the clocks are locked, or the driver lacks persistence mode.",
  },
];
