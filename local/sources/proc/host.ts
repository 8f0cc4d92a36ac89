/** The host: processors, memory, disks, network, pressure. */

import type { Tags } from "@service/core";
import { tsFromNs } from "@service/core/time";
import {
  CPU_MODES,
  parseCpu,
  parseDiskstats,
  parseLoadavg,
  parseMeminfo,
  parseNetDev,
  parsePressure,
} from "../../base/proc_text.ts";
import { createProcFiles } from "../../base/proc_files.ts";
import { CumulativeReadings } from "../cumulative.ts";
import type { Recorder } from "../recorder.ts";
import type { Source } from "../source.ts";

/** The profiler's version, and the folder of the kernel's files. */
export interface HostSourceOptions {
  /** Published among the attributes of the host. */
  profilerVersion: string;
  /** Folder of the kernel's files, `/proc` by default. */
  proc?: string;
}

const NO_TAGS: Tags = {};

/** The source of the host; values that the kernel does not report are not published. */
export function createHostSource({ profilerVersion, proc }: HostSourceOptions): Source {
  const files = createProcFiles(proc);
  const readings = new CumulativeReadings("base");
  let before: readonly number[] | null = null;
  let attributes: Tags | null = null;
  let first_seen_ts: number | null = null;

  function sampleCpu(recorder: Recorder, ticks: readonly number[]): void {
    // Idle and iowait are known to step back by a tick or two.
    const spent = before && ticks.map((now, mode) => Math.max(0, now - (before?.[mode] ?? now)));
    before = ticks;
    const total = spent?.reduce((sum, one) => sum + one, 0);
    if (!spent || !total) return;
    let busy = 0;
    spent.forEach((one, at) => {
      const mode = CPU_MODES[at]!;
      if (mode !== "idle" && mode !== "iowait") busy += one;
      recorder.gauge("host_cpu_mode_percent", { mode }, (one / total) * 100);
    });
    recorder.gauge("host_cpu_usage_percent", NO_TAGS, (busy / total) * 100);
  }

  function sampleMemory(recorder: Recorder): void {
    const memory = parseMeminfo(files.text("meminfo") ?? "");
    const gauge = (name: string, value: number | null) => {
      if (value !== null) recorder.gauge(name, NO_TAGS, value);
    };
    const { total_bytes, available_bytes, swap_total_bytes, swap_free_bytes } = memory;
    gauge("host_memory_total_bytes", total_bytes);
    gauge("host_memory_available_bytes", available_bytes);
    gauge("host_memory_usage_bytes", difference(total_bytes, available_bytes));
    gauge("host_swap_total_bytes", swap_total_bytes);
    gauge("host_swap_usage_bytes", difference(swap_total_bytes, swap_free_bytes));
  }

  function sampleTraffic(recorder: Recorder): void {
    const counter = (name: string, of: Tags, id: string, reading: number) =>
      recorder.counter(name, of, readings.increase(`${name} ${id}`, reading));
    for (const disk of parseDiskstats(files.text("diskstats") ?? "")) {
      const { device } = disk;
      counter("host_disk_read_bytes", { device }, device, disk.read_bytes);
      counter("host_disk_write_bytes", { device }, device, disk.write_bytes);
    }
    for (const link of parseNetDev(files.text("net/dev") ?? "")) {
      const { interface: name } = link;
      if (name === "lo") continue;
      const of = { interface: name };
      counter("host_network_receive_bytes", of, name, link.receive_bytes);
      counter("host_network_transmit_bytes", of, name, link.transmit_bytes);
    }
  }

  function samplePressure(recorder: Recorder): void {
    const [one, five, fifteen] = parseLoadavg(files.text("loadavg") ?? "") ?? [];
    for (const [window, load] of [["1m", one], ["5m", five], ["15m", fifteen]] as const) {
      if (load !== undefined) recorder.gauge("host_load_average", { window }, load);
    }
    for (const resource of ["cpu", "memory", "io"]) {
      for (const pressure of parsePressure(files.text(`pressure/${resource}`) ?? "")) {
        const { kind, percent, total_microseconds } = pressure;
        // Always zero: it is impossible that all tasks wait for a processor.
        if (resource === "cpu" && kind === "full") continue;
        const of = { resource, kind };
        const gained = readings.increase(`pressure ${resource} ${kind}`, total_microseconds);
        recorder.gauge("host_pressure_stall_percent", of, percent);
        recorder.counter("host_pressure_stall_microseconds", of, gained);
      }
    }
  }

  function describe(cpuCount: number | undefined): Tags {
    const { total_bytes } = parseMeminfo(files.text("meminfo") ?? "");
    return {
      "platform.name": files.text("sys/kernel/ostype")?.trim() || Deno.build.os,
      "platform.version": files.text("sys/kernel/osrelease")?.trim() || Deno.osRelease(),
      "platform.machine": Deno.build.arch,
      "profiler.version": profilerVersion,
      ...(cpuCount && { "host.cpu_count": String(cpuCount) }),
      ...(total_bytes !== null && { "host.memory_total_bytes": String(total_bytes) }),
    };
  }

  return {
    sample(recorder) {
      const cpu = parseCpu(files.text("stat") ?? "");
      if (cpu) sampleCpu(recorder, cpu.ticks);
      sampleMemory(recorder);
      sampleTraffic(recorder);
      samplePressure(recorder);
      attributes ??= describe(cpu?.count);
      first_seen_ts ??= tsFromNs(recorder.now_ns);
      recorder.resource("host", NO_TAGS, attributes, first_seen_ts);
    },
  };
}

function difference(total: number | null, rest: number | null): number | null {
  return total === null || rest === null ? null : Math.max(0, total - rest);
}
