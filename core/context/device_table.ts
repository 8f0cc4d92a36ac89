/** The section on devices, side by side: what decides is the one that differs. */

import { named } from "../quoted.ts";
import type { DeviceFacts, Level } from "../facts/mod.ts";
import type { SectionText } from "./section_text.ts";
import { devicesOf, nameOf, type PlacedDevice, type Subject } from "./subject.ts";
import { meanOf, number, percent, row, UNKNOWN } from "./words.ts";

/** A column: its heading, and its cell. */
interface Column {
  heading: string;
  cell: (placed: PlacedDevice) => string;
}

const share = (heading: string, of: (device: DeviceFacts) => Level | null): Column => ({
  heading,
  cell: ({ device }) => percent(of(device)?.mean),
});

const COLUMNS: readonly Column[] = [
  { heading: "process", cell: processOf },
  {
    heading: "busy % (this run, exact)",
    cell: ({ device: { activity } }) =>
      percent(activity ? activity.busy_seconds / activity.captured_seconds : null),
  },
  share("kernels running % (all programs, sampled)", ({ utilization }) => utilization),
  share("SM %", ({ sm }) => sm),
  share("tensor %", ({ tensor }) => tensor),
  share("DRAM bandwidth %", ({ dram }) => dram),
  share("fp32 %", ({ fp32 }) => fp32),
  share("occupancy %", ({ occupancy }) => occupancy),
  { heading: "memory GB used", cell: ({ device }) => meanOf(device.memory_used_bytes, 1e-9) },
  { heading: "of GB", cell: ({ device }) => number(scaled(device.memory_total_bytes, 1e-9)) },
  { heading: "W", cell: ({ device }) => meanOf(device.power_watts) },
  { heading: "limit W", cell: ({ device }) => number(device.power_limit_watts) },
  { heading: "default limit W", cell: ({ device }) => number(device.default_power_limit_watts) },
  { heading: "°C max", cell: ({ device }) => number(device.temperature?.max) },
  { heading: "SM MHz", cell: ({ device }) => meanOf(device.clock_megahertz) },
  { heading: "max MHz", cell: ({ device }) => number(device.max_clock_megahertz) },
  { heading: "throttled", cell: throttledOf },
  { heading: "PCIe now/max", cell: linkOf },
  {
    heading: "NVLink GB/s",
    cell: ({ device }) => number(scaled(device.nvlink_bytes_per_second, 1e-9)),
  },
  {
    heading: "links up/all",
    cell: ({ device: { nvlinks } }) => nvlinks ? `${nvlinks.active}/${nvlinks.all}` : UNKNOWN,
  },
  {
    heading: "ECC corrected/not",
    cell: ({ device: { ecc } }) => `${number(ecc.corrected)}/${number(ecc.uncorrected)}`,
  },
  { heading: "critical XIDs", cell: ({ device }) => number(device.xids) },
];

/** Devices. */
export function devicesSection(subject: Subject): SectionText {
  const devices = devicesOf(subject);
  const title = "Devices";
  if (devices.length === 0) {
    return {
      section: "devices",
      title,
      blocks: [{ lead: ["No device is known; see completeness."], rows: [] }],
    };
  }
  const cells = COLUMNS.map(({ heading, cell }) => ({ heading, values: devices.map(cell) }));
  const isUnknown = (values: readonly string[]) => values.every((value) => /^[-/]*$/.test(value));
  const known = cells.filter(({ values }) => !isUnknown(values));
  const same = known.filter(({ values }) =>
    devices.length > 1 && values.every((value) => value === values[0])
  );
  const different = known.filter((column) => !same.includes(column));
  const absent = cells.filter(({ values }) => isUnknown(values)).map(({ heading }) => heading);
  const lead = [
    ...peaksOf(devices),
    ...(same.length > 0
      ? [
        `The same on all ${devices.length}: ${
          same.map(({ heading, values }) => `${heading} ${values[0]}`).join(", ")
        }.`,
      ]
      : []),
    ...(absent.length > 0 ? [`Not measured: ${absent.join(", ")}.`] : []),
    ...(different.length > 0 ? [row("device", ...different.map(({ heading }) => heading))] : []),
  ];
  const rows = different.length === 0 ? [] : devices.map((placed, at) => ({
    text: row(nameOf(placed), ...different.map(({ values }) => values[at]!)),
    weight: 450 - at / 100,
  }));
  return { section: "devices", title, blocks: [{ lead, rows, of: "devices" }] };
}

function peaksOf(devices: readonly PlacedDevice[]): string[] {
  const lines = new Set(devices.flatMap(({ device: { name, peaks } }) => {
    if (!peaks) return [];
    const flops = Object.entries(peaks.teraflops)
      .filter(([type]) => ["fp32", "tf32", "bf16", "fp8", "fp4"].includes(type))
      .map(([type, value]) => `${type} ${number(value)}`).join(", ");
    return [
      `Peaks of ${named(name ?? "the-device", 60)}: memory ${
        number(peaks.memory_gigabytes_per_second)
      } GB/s; TFLOPS ${flops}.`,
    ];
  }));
  return [...lines];
}

function processOf({ facts, device }: PlacedDevice): string {
  const pids = device.activity?.pids.slice(0, 3) ?? [];
  const ranks = pids.flatMap((pid) => facts.processes.find((one) => one.pid === pid)?.rank ?? []);
  const more = (device.activity?.pids.length ?? 0) - pids.length;
  const pid = [...pids.map((one) => named(one, 20)), ...(more > 0 ? [`${more} more`] : [])]
    .join("+") || UNKNOWN;
  return ranks.length > 0 ? `${pid} rank ${ranks.map((one) => named(one, 20)).join("+")}` : pid;
}

function throttledOf({ device: { throttled } }: PlacedDevice): string {
  if (throttled === null) return UNKNOWN;
  const held = throttled.filter(({ share }) => share >= 0.01);
  return held.length > 0
    ? held.map(({ reason, share }) => `${named(reason, 60)} ${percent(share)} %`).join(", ")
    : "no";
}

function linkOf({ device: { pcie } }: PlacedDevice): string {
  const { generation, width, max_generation, max_width } = pcie;
  if (generation === null && width === null) return UNKNOWN;
  return `gen${generation ?? "?"} x${width ?? "?"}/gen${max_generation ?? "?"} x${
    max_width ?? "?"
  }`;
}

function scaled(value: number | null, factor: number): number | null {
  return value === null ? null : value * factor;
}
