/** Windows of a load, with noise, as the profiler would have sent them. */

import { binIndex, type Bins, count } from "../../bins.ts";
import type { InstanceRead, StepRead } from "../../facts/mod.ts";
import { type Series, seriesKey } from "../../series/mod.ts";
import type { Tags } from "../../tags.ts";
import { SECOND_NS } from "../../time.ts";
import { emptyWindow, resourceKey, type Window } from "../../window.ts";
import type { DeviceLoad, EngineLoad, HostLoad, Load, ProcessLoad, WorkLoad } from "./load.ts";
import { type Noise, noiseOf } from "./random.ts";

/** How a load is played. */
export interface PlayOptions {
  /** Seed of the noise. */
  seed?: number;
  /** Number of steps; 30 when absent. */
  steps?: number;
  /** Seconds of a step; 10 when absent. */
  seconds?: number;
  /** Deviation of each number; 2 % when absent. */
  spread?: number;
  /** `instance_id`. */
  id?: string;
}

const START_NS = 1_795_000_000n * SECOND_NS;

/** A read of an instance that does in each step what `load` says. */
export function play(
  load: Load | ((step: number) => Load),
  { seed = 1, steps = 30, seconds = 10, spread = 0.02, id = "0123456789ab" }: PlayOptions = {},
): InstanceRead {
  const noise = noiseOf(seed);
  const at = typeof load === "function" ? load : () => load;
  const length_ns = BigInt(seconds) * SECOND_NS;
  const reads = Array.from({ length: steps }, (_, step): StepRead => {
    const from_ns = START_NS + BigInt(step) * length_ns;
    const writer = new Writer(from_ns, { seconds, noise, spread });
    writer.write(at(step));
    return { window: writer.window, gaps: [] };
  });
  const first = at(0);
  const to_ns = START_NS + BigInt(steps) * length_ns;
  return {
    instance: {
      instance_id: id,
      resource_id: id,
      tags: { "instance.id": id, ...first.tags },
      attributes: first.command === undefined ? {} : { "process.command_line": first.command },
      first_seen_ts: Number(START_NS / SECOND_NS) - 3600,
      last_seen_ts: Number(to_ns / SECOND_NS),
    },
    asked: { from_ns: START_NS, to_ns },
    steps: reads,
    is_running: true,
  };
}

/** Fills one window. */
class Writer {
  readonly window: Window;
  readonly #seconds: number;
  readonly #noise: Noise;
  readonly #spread: number;

  constructor(
    from_ns: bigint,
    { seconds, noise, spread }: { seconds: number; noise: Noise; spread: number },
  ) {
    this.window = emptyWindow(from_ns);
    this.window.to_ns = from_ns + BigInt(seconds) * SECOND_NS;
    this.#seconds = seconds;
    this.#noise = noise;
    this.#spread = spread;
  }

  write(load: Load): void {
    this.#counter("profiler_covered_nanoseconds", {}, this.#seconds * 1e9);
    load.devices?.forEach((device, index) => this.#device(device, index));
    for (const process of load.processes ?? []) this.#process(process);
    if (load.host) this.#host(load.host, load.processes ?? []);
    if (load.engine) this.#engine(load.engine);
    for (const [capture, reason] of Object.entries(load.refused ?? {})) {
      this.#gauge("profiler_capture_state", { capture, reason }, 0);
    }
    for (const { at = 1, ...entry } of load.errors ?? []) {
      const log_ns = this.window.from_ns + BigInt(Math.round(at * 1e9));
      this.window.errors.push({ ...entry, exception: "", log_ns });
    }
  }

  #device(load: DeviceLoad, index: number): void {
    const { name, attributes, source = "cuda", pid, gauges = {}, counters = {} } = load;
    const tags = { "device.uuid": `GPU-${index}` };
    this.#resource("device", tags, {
      "device.name": name,
      "device.index": String(index),
      ...attributes,
    });
    const of = { "process.pid": String(pid), ...tags };
    if (load.isRecorded !== false) this.#activity(load, source, of);
    for (const [gauge, value] of Object.entries(gauges)) {
      const isExact = /memory_total|link|limit|max_clock/.test(gauge);
      this.#gauge(`gpu_${gauge}`, tags, isExact ? value : this.#around(value));
    }
    for (const [counter, value] of Object.entries(counters)) {
      this.#counter(`gpu_${counter}`, tags, value * this.#seconds);
    }
    for (const [reason, share] of Object.entries(load.throttled ?? {})) {
      this.#counter("gpu_throttled_nanoseconds", { ...tags, reason }, share * this.#seconds * 1e9);
    }
  }

  #activity(load: DeviceLoad, source: string, of: Tags): void {
    const { kernels = [], graphs = [], copies = [], waits = [], graph_trace_mode = 0 } = load;
    const ns = this.#seconds * 1e9;
    const work = copies.map(({ kind, share, bytes, bytes_per_second }) => ({
      name: kind,
      share,
      seconds: bytes / bytes_per_second,
    }));
    const all = [...kernels, ...graphs, ...work].reduce((sum, { share }) => sum + share, 0);
    const busy = Math.min(0.9995, this.#around(load.busy ?? all));
    this.#counter("gpu_busy_nanoseconds", of, busy * ns);
    // Noise of the work is that of the busy time: a device does not work longer than it is busy.
    const scale = busy / Math.max(1e-9, load.busy ?? all);
    this.#profile(`${source}_kernels_nanoseconds`, of, kernels, scale);
    this.#profile(`${source}_graphs_nanoseconds`, of, graphs, scale);
    this.#profile(`${source}_memcpy_nanoseconds`, of, work, scale);
    for (const { kind, share, bytes_per_second } of copies) {
      const bytes = share * scale * this.#seconds * bytes_per_second;
      this.#counter(`${source}_memcpy_bytes`, { ...of, kind }, bytes);
    }
    this.#profile(
      `${source}_sync_nanoseconds`,
      of,
      waits.map(({ name, share, per_second }) => ({ name, share, seconds: share / per_second })),
      1,
    );
    const bins: Bins = new Map();
    let [launched, sum] = [0, 0];
    for (const { share, seconds } of kernels) {
      const times = Math.round(share * this.#seconds / seconds);
      if (times === 0) continue;
      count(bins, binIndex(seconds * 1e9), times);
      launched += times;
      sum += times * seconds * 1e9;
    }
    this.#histogram(`${source}_kernel_duration_nanoseconds`, of, { launched, sum, bins });
    const pid = { "process.pid": of["process.pid"]! };
    const lost = (load.lost_per_second ?? 0) * this.#seconds;
    this.#counter(`${source}_dropped_records_total`, pid, lost);
    if (source === "cuda") this.#gauge("cuda_graph_trace_mode", of, graph_trace_mode);
    this.#gauge("profiler_capture_state", { capture: "gpu_kernels", ...of }, 1);
  }

  #process(load: ProcessLoad): void {
    const { pid, parent = 1, command, cpus, involuntary_per_second = 5, lives } = load;
    const tags = { "process.pid": String(pid) };
    const start = Number(START_NS / SECOND_NS);
    this.#resource("process", tags, {
      "process.command_line": command,
      "process.parent_pid": String(parent),
    }, lives && [start + lives[0], start + lives[1]]);
    this.#counter("process_user_cpu_seconds", tags, this.#around(0.94 * cpus) * this.#seconds);
    this.#counter("process_system_cpu_seconds", tags, this.#around(0.06 * cpus) * this.#seconds);
    this.#counter(
      "process_context_switches_involuntary_total",
      tags,
      this.#around(involuntary_per_second) * this.#seconds,
    );
    this.#gauge("process_threads", tags, 40);
  }

  #host(load: HostLoad, processes: readonly ProcessLoad[]): void {
    const { cpus, memory_bytes = 512e9, memory_used_bytes = 90e9, swap_used_bytes = 0 } = load;
    this.#resource("host", {}, { "host.cpu_count": String(cpus) });
    this.#counter("process_ended_user_cpu_seconds", {}, (load.ended_cpus ?? 0) * this.#seconds);
    const own = processes.reduce((sum, process) => sum + process.cpus, 0.4) / cpus;
    const used = Math.min(1, this.#around(load.used ?? own));
    this.#gauge("host_cpu_usage_percent", {}, 100 * used);
    this.#gauge("host_cpu_mode_percent", { mode: "iowait" }, 100 * (load.iowait ?? 0.001));
    this.#gauge("host_cpu_mode_percent", { mode: "steal" }, 100 * (load.steal ?? 0));
    this.#gauge("host_memory_total_bytes", {}, memory_bytes);
    this.#gauge(
      "host_memory_usage_bytes",
      {},
      Math.min(memory_bytes, this.#around(memory_used_bytes)),
    );
    this.#gauge("host_swap_usage_bytes", {}, swap_used_bytes);
    const stalled = { "cpu some": 0.003, "io some": 0.002, "io full": 0.001, ...load.stalled };
    for (const [name, share] of Object.entries(stalled)) {
      const [resource = "", kind = ""] = name.split(" ");
      this.#counter(
        "host_pressure_stall_microseconds",
        { resource, kind },
        Math.min(1, this.#around(share)) * this.#seconds * 1e6,
      );
    }
    const disk = { device: "nvme0n1" };
    const read = load.read_bytes_per_second ?? 2e4;
    const written = load.written_bytes_per_second ?? 1e5;
    this.#counter("host_disk_read_bytes", disk, this.#around(read) * this.#seconds);
    this.#counter("host_disk_write_bytes", disk, this.#around(written) * this.#seconds);
  }

  #engine({ tags = {}, gauges, counters, histograms, configuration }: EngineLoad): void {
    for (const [name, value] of Object.entries(gauges ?? {})) {
      this.#gauge(name, tags, Number.isInteger(value) ? value : Math.min(1, this.#around(value)));
    }
    for (const [name, value] of Object.entries(counters ?? {})) {
      this.#counter(name, tags, this.#around(value) * this.#seconds);
    }
    for (const [name, [per_second, mean]] of Object.entries(histograms ?? {})) {
      const launched = Math.round(per_second * this.#seconds);
      const bins: Bins = new Map();
      if (launched > 0) count(bins, binIndex(mean), launched);
      this.#histogram(name, tags, { launched, sum: launched * this.#around(mean), bins });
    }
    for (const [name, own] of Object.entries(configuration ?? {})) {
      this.#gauge(name, { ...tags, ...own }, 1);
    }
  }

  #around(value: number): number {
    return value * this.#noise.around(this.#spread);
  }

  #set(series: Series): void {
    this.window.series.set(seriesKey(series), series);
  }

  #gauge(name: string, tags: Tags, value: number): void {
    this.#set({ name, type: "gauge", tags, updated_ns: this.window.to_ns, value });
  }

  #counter(name: string, tags: Tags, total: number): void {
    this.#set({ name, type: "counter", tags, updated_ns: this.window.to_ns, total });
  }

  #histogram(
    name: string,
    tags: Tags,
    { launched, sum, bins }: { launched: number; sum: number; bins: Bins },
  ): void {
    const updated_ns = this.window.to_ns;
    const stats = { count: launched, sum, min: null, max: null, buckets: { bins } };
    this.#set({ name, type: "histogram", tags, updated_ns, ...stats });
  }

  #profile(name: string, tags: Tags, works: readonly WorkLoad[], scale: number): void {
    const frames = new Map(
      works.map((work) => {
        const samples = Math.max(1, Math.round(work.share * scale * this.#seconds / work.seconds));
        return [work.name, { value: work.share * scale * this.#seconds * 1e9, samples }];
      }),
    );
    this.#set({ name, type: "profile", tags, updated_ns: this.window.to_ns, frames });
  }

  #resource(kind: string, tags: Tags, attributes: Tags, seen?: [number, number]): void {
    const start = Number(START_NS / SECOND_NS);
    const now = Number(this.window.to_ns / SECOND_NS);
    const [first_seen_ts, last_seen_ts] = seen ?? [start, now];
    this.window.resources.set(resourceKey({ kind, tags }), {
      kind,
      tags,
      attributes,
      first_seen_ts,
      last_seen_ts: Math.min(now, last_seen_ts),
    });
  }
}
