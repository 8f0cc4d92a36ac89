/** A workload for tests: windows of one GPU that is busy or waits, with kernels, errors and tags. */

import type { Resource, Series } from "@service/core";
import { nsFromTs } from "@service/core/time";
import { newInstanceId, NOW_TS, send, type TestService, type UploadParts } from "./api.ts";

/** Where the span of {@linkcode sendWorkload} begins, epoch seconds. */
export const WORKLOAD_START = NOW_TS - 300;

/** Seconds that it takes. */
export const WORKLOAD_SECONDS = 120;

/** What a test chooses of a workload. */
export interface WorkloadParts extends Pick<UploadParts, "tags" | "attributes" | "errors"> {
  /** Share of the time in which the device has work. */
  busy?: number;
  /** Name of its largest kernel. */
  kernel?: string;
  /** Name of its device. */
  device?: string;
  /** Its command line. */
  command?: string;
  /** Further series of each window. */
  more?: (to: number) => Series[];
}

/** Sends a workload of twelve windows; gives its `instance_id`. */
export async function sendWorkload(
  service: TestService,
  {
    busy = 0.5,
    kernel = "ampere_sgemm_128x64_tn",
    device = "A100",
    command,
    more = () => [],
    ...rest
  }: WorkloadParts = {},
): Promise<string> {
  const instance_id = newInstanceId();
  for (let from = WORKLOAD_START; from < WORKLOAD_START + WORKLOAD_SECONDS; from += 10) {
    const to = from + 10;
    const ns = busy * 10e9;
    const series = [...seriesOf(to, { ns, kernel }), ...more(to)];
    const resources = resourcesOf({ from, to, device, command });
    await send(service, {
      instance_id,
      start: WORKLOAD_START,
      from,
      to,
      series,
      resources,
      ...rest,
    });
  }
  return instance_id;
}

function seriesOf(to: number, { ns, kernel }: { ns: number; kernel: string }): Series[] {
  const device = { "device.uuid": "GPU-1" };
  const tags = { ...device, "process.pid": "7" };
  const updated_ns = nsFromTs(to);
  const frames = new Map([[kernel, { value: ns * 0.8, samples: 1_000 }], ["small", {
    value: ns * 0.2,
    samples: 5_000,
  }]]);
  return [
    { name: "gpu_busy_nanoseconds", type: "counter", tags, updated_ns, total: ns },
    { name: "cuda_kernels_nanoseconds", type: "profile", tags, updated_ns, frames },
    { name: "gpu_power_usage_watts", type: "gauge", tags: device, updated_ns, value: to % 60 },
  ];
}

function resourcesOf(
  { from, to, device, command = "python train.py" }: {
    from: number;
    to: number;
    device: string;
    command?: string;
  },
): Resource[] {
  const seen = { first_seen_ts: from, last_seen_ts: to };
  return [
    {
      kind: "device",
      tags: { "device.uuid": "GPU-1" },
      attributes: { "device.name": device, "device.index": "0" },
      ...seen,
    },
    {
      kind: "process",
      tags: { "process.pid": "7" },
      attributes: { "process.command_line": command },
      ...seen,
    },
  ];
}
