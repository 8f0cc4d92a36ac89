/** What nvidia-smi prints, under the names of our metrics. */

/** Values by metric; `null`: the device does not have it. */
export type Values = ReadonlyMap<string, number | null>;

/** A column of nvidia-smi and the metric that it is compared with. */
export interface Column {
  column: string;
  metric: string;
  /** Our unit in one of theirs; 1 unless given. */
  factor?: number;
  /** Largest difference, in our unit, of values that were read within one second. */
  tolerance: number;
}

const MEBIBYTE = 2 ** 20;

/** Fields of `nvidia-smi --query-gpu`. */
export const QUERY: readonly Column[] = [
  { column: "utilization.gpu", metric: "gpu_utilization_percent", tolerance: 10 },
  { column: "utilization.memory", metric: "gpu_memory_utilization_percent", tolerance: 10 },
  {
    column: "memory.used",
    metric: "gpu_memory_used_bytes",
    factor: MEBIBYTE,
    tolerance: 16 * MEBIBYTE,
  },
  {
    column: "memory.total",
    metric: "gpu_memory_total_bytes",
    factor: MEBIBYTE,
    tolerance: MEBIBYTE,
  },
  { column: "temperature.gpu", metric: "gpu_temperature_celsius", tolerance: 2 },
  { column: "temperature.memory", metric: "gpu_memory_temperature_celsius", tolerance: 2 },
  { column: "power.draw", metric: "gpu_power_usage_watts", tolerance: 25 },
  { column: "enforced.power.limit", metric: "gpu_power_management_limit_watts", tolerance: 1 },
  { column: "clocks.sm", metric: "gpu_clock_sm_megahertz", tolerance: 60 },
  { column: "clocks.mem", metric: "gpu_clock_mem_megahertz", tolerance: 10 },
  { column: "clocks.max.sm", metric: "gpu_max_clock_sm_megahertz", tolerance: 0 },
  { column: "fan.speed", metric: "gpu_fan_speed_percent", tolerance: 3 },
  { column: "pcie.link.gen.current", metric: "gpu_pcie_link_generation", tolerance: 0 },
  { column: "pcie.link.gen.max", metric: "gpu_pcie_max_link_generation", tolerance: 0 },
  { column: "pcie.link.width.current", metric: "gpu_pcie_link_width", tolerance: 0 },
  { column: "pcie.link.width.max", metric: "gpu_pcie_max_link_width", tolerance: 0 },
];

/** Metrics of GPM that `nvidia-smi dmon --gpm-metrics` appends, by their numbers. */
export const GPM: readonly Column[] = [
  { column: "2", metric: "gpu_sm_utilization_percent", tolerance: 5 },
  { column: "3", metric: "gpu_sm_occupancy_percent", tolerance: 5 },
  { column: "5", metric: "gpu_tensor_utilization_percent", tolerance: 5 },
  { column: "10", metric: "gpu_dram_bandwidth_utilization_percent", tolerance: 5 },
];

/** Columns of `nvidia-smi dmon -s put`. */
export const MONITOR: readonly Column[] = [
  { column: "pwr", metric: "gpu_power_usage_watts", tolerance: 25 },
  { column: "gtemp", metric: "gpu_temperature_celsius", tolerance: 2 },
  { column: "mtemp", metric: "gpu_memory_temperature_celsius", tolerance: 2 },
  { column: "sm", metric: "gpu_utilization_percent", tolerance: 10 },
  { column: "mem", metric: "gpu_memory_utilization_percent", tolerance: 10 },
  // Samples of 20 ms, which our mean over a second can only be beside.
  {
    column: "rxpci",
    metric: "gpu_pcie_throughput_rx_kilobytes_per_second",
    factor: 1000,
    tolerance: Infinity,
  },
  {
    column: "txpci",
    metric: "gpu_pcie_throughput_tx_kilobytes_per_second",
    factor: 1000,
    tolerance: Infinity,
  },
];

/** Values of a line of `nvidia-smi --query-gpu --format=csv,noheader,nounits`, in the order of the columns. */
export function readQuery(line: string, columns: readonly Column[] = QUERY): Values {
  const cells = line.split(",").map((cell) => cell.trim());
  return new Map(columns.map(({ metric, factor }, i) => [metric, scaled(cells[i], factor)]));
}

/** Reader of the lines of `nvidia-smi dmon`; `null` for a line without values. */
export function monitorReader(): (line: string) => Values | null {
  let names: string[] = [];
  return (line) => {
    const words = line.replace("#", " ").trim().split(/\s+/);
    if (line.startsWith("#")) {
      if (words[0] === "gpu") names = words;
      return null;
    }
    const named = MONITOR.filter(({ column }) => names.includes(column))
      .map(({ column, metric, factor }) =>
        [metric, scaled(words[names.indexOf(column)], factor)] as const
      );
    const gpm = words.length - GPM.length;
    const appended = names.length === words.length && hasGpm(names)
      ? GPM.map(({ metric }, i) => [metric, scaled(words[gpm + i])] as const)
      : [];
    return new Map([...named, ...appended]);
  };
}

/** Whether the last columns are of GPM: all others have known names. */
function hasGpm(names: readonly string[]): boolean {
  const known = /^(gpu|pwr|gtemp|mtemp|sm|mem|enc|dec|jpg|ofa|rxpci|txpci)$/;
  return names.slice(-GPM.length).every((name) => !known.test(name));
}

function scaled(cell = "", factor = 1): number | null {
  const value = Number(cell);
  return cell === "" || Number.isNaN(value) ? null : value * factor;
}
