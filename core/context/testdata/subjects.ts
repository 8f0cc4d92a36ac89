/** Subjects of tests: instances with devices, kernels, processes, engines and errors, as many as are asked for. */

import type {
  Activity,
  Course,
  DeviceFacts,
  EngineFacts,
  InstanceFacts,
  Level,
  ProcessFacts,
} from "../../facts/mod.ts";
import { findings } from "../../findings/mod.ts";
import { SECOND_NS } from "../../time.ts";
import type { Subject } from "../subject.ts";

/** How much there is of everything. */
export interface SubjectSize {
  instances?: number;
  devices?: number;
  kernels?: number;
  processes?: number;
  engines?: number;
  errors?: number;
  courses?: number;
  /** Arguments of the command line. */
  flags?: number;
  /** A name of the workload: of a kernel, device, process, tag, engine or message. */
  name?: (kind: string, at: number) => string;
}

const STEPS = 12;
const START_NS = 1_795_000_000n * SECOND_NS;
const END_NS = START_NS + 600n * SECOND_NS;

const level = (mean: number): Level => ({ mean, min: 0.9 * mean, max: 1.1 * mean, last: mean });

/** A subject of that size. */
export function subjectOf(size: SubjectSize = {}): Subject {
  const { instances = 1, name = plainName } = size;
  const all = Array.from({ length: instances }, (_, at) => instanceOf(at, size));
  return {
    instances: all,
    findings: findings(all),
    asked: { from_ns: START_NS, to_ns: END_NS },
    matched: instances,
    tags: {},
    available_tags: new Map([
      ["host.name", all.map(({ host }) => host.name!)],
      [name("tag", 0), [name("value", 0), name("value", 1)]],
    ]),
    base_url: "https://api.example.com",
    is_local: false,
  };
}

/** Names as workloads have them. */
export function plainName(kind: string, at: number): string {
  return kind === "kernel"
    ? `_ZN2at6native29vectorized_elementwise_kernelILi${at}ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_`
    : kind === "message"
    ? `RuntimeError: worker ${"abcdefgh"[at % 8]} failed with status ${at}`
    : `${kind}-${at}`;
}

function instanceOf(at: number, size: SubjectSize): InstanceFacts {
  const { devices = 1, processes = 3, engines = 0, errors = 1, courses = 10, flags = 3 } = size;
  const { name = plainName } = size;
  const list = <T>(length: number, of: (index: number) => T) =>
    Array.from({ length }, (_, index) => of(index));
  const host = name("host", at);
  const id = at.toString(16).padStart(12, "0");
  const command = `python train.py ${
    list(flags, (flag) => `--${name("flag", flag)}=${flag}`).join(" ")
  }`;
  return {
    instance: {
      instance_id: id,
      resource_id: id,
      tags: { "host.name": host, "instance.id": id, [name("tag", at)]: name("value", at) },
      attributes: {},
      first_seen_ts: Number(START_NS / SECOND_NS),
      last_seen_ts: Number(END_NS / SECOND_NS),
    },
    span: {
      asked: { from_ns: START_NS, to_ns: END_NS },
      ran: { from_ns: START_NS, to_ns: END_NS },
      steady: { from_ns: START_NS + 60n * SECOND_NS, to_ns: END_NS },
      covered_seconds: 590,
      steady_seconds: 540,
      startup_seconds: 60,
      startup_reason: "until the GPU was busy",
      gaps: [{ from_ns: START_NS + 100n * SECOND_NS, to_ns: START_NS + 110n * SECOND_NS }],
      is_running: true,
    },
    workload: { command_line: command, program: "python", flags: [] },
    captures: [
      {
        capture: "gpu_kernels",
        of: name("process", 0),
        is_captured: false,
        reason: name("why", 0),
      },
    ],
    losses: [{ metric: "profiler_dropped_records", total: 12 }],
    devices: list(devices, (index) => deviceOf(at, index, size)),
    processes: list(processes, (index) => processOf(index, name)),
    host: {
      name: host,
      cpus: 128,
      run_cpus: 12,
      cpu: level(0.4),
      cpu_modes: { user: level(0.3), [name("mode", 0)]: level(0.05) },
      memory_total_bytes: 1e12,
      memory_used_bytes: level(2e11),
      swap_used_bytes: null,
      stalled: [{ resource: "cpu", kind: "some", share: 0.02 }],
      disks: [{ name: name("disk", 0), read_bytes_per_second: 2e6, written_bytes_per_second: 1e6 }],
      networks: [
        { name: name("network", 0), received_bytes_per_second: 2e6, sent_bytes_per_second: 1e6 },
      ],
    },
    engines: list(engines, (index) => engineOf(index, name)),
    errors: list(errors, (index) => ({
      level: index % 2 === 0 ? "error" as const : "warning" as const,
      message: name("message", index),
      exception: index % 3 === 0 ? name("exception", index) : "",
      log_ns: END_NS - BigInt(index + 1) * SECOND_NS,
    })),
    steps: list(STEPS, (step) => ({
      from_ns: START_NS + BigInt(50 * step) * SECOND_NS,
      to_ns: START_NS + BigInt(50 * step + 50) * SECOND_NS,
      seconds: step === 2 ? 40 : 50,
    })),
    first_steady_step: 1,
    courses: list(courses, (index) => courseOf(index, name)),
  };
}

type Name = NonNullable<SubjectSize["name"]>;

function courseOf(at: number, name: Name): Course {
  return {
    metric: name("metric", at),
    tags: { [name("tag", at)]: name("value", at) },
    of: "rate",
    values: Array.from({ length: STEPS }, (_, step) => step === 4 ? null : at + step * 1.37),
  };
}

function processOf(at: number, name: Name): ProcessFacts {
  return {
    pid: String(100 + at),
    parent_pid: at === 0 ? "1" : "100",
    command_line: name("command", at),
    rank: null,
    attributes: {},
    has_ended: at % 5 === 4,
    seconds: 540,
    user_cpus: 1 / (at + 1),
    system_cpus: 0.1 / (at + 1),
    threads: 40,
    memory_bytes: level(2e9),
    voluntary_switches_per_second: 300,
    involuntary_switches_per_second: 5,
    storage_read_bytes_per_second: 0,
    storage_write_bytes_per_second: 0,
  };
}

function activityOf(at: number, { kernels = 20, name = plainName }: SubjectSize): Activity {
  const work = (kind: string, index: number, seconds: number) => ({
    name: name(kind, index),
    seconds,
    times: 1000 + index,
  });
  return {
    source: "cuda",
    pids: [String(100 + at)],
    captured_seconds: 540,
    busy_seconds: 300 + 20 * (at % 4),
    busy_at_most_seconds: 400,
    graph_trace_mode: 0,
    kernels: Array.from({ length: kernels }, (_, index) => ({
      ...work("kernel", index, 200 / (index + 2) ** 1.3),
      short: name("kernel", index).slice(0, 40),
      category: index % 3 === 0 ? "gemm" : "elementwise",
      library: null,
      data_types: [],
    })),
    unnamed_kernel_seconds: 0,
    graphs: [work("graph", 0, 30)],
    copies: [{ ...work("host_to_device", 0, 4), name: "host_to_device", bytes: 1e10 }],
    sets: [],
    waits: [work("wait", 0, 100)],
    kernel_durations: null,
    lost_records: 0,
  };
}

function deviceOf(instance: number, at: number, size: SubjectSize): DeviceFacts {
  const { name = plainName } = size;
  return {
    uuid: `GPU-${instance}-${at}`,
    index: at,
    name: name("device", 0),
    attributes: { "device.driver_version": name("version", 0) },
    peaks: null,
    peak_memory_bytes_per_second: null,
    activity: activityOf(at, size),
    utilization: level(0.6 + at / 1000),
    sm: level(0.5),
    occupancy: level(0.2),
    tensor: level(0.3),
    dram: level(0.4),
    fp32: null,
    memory_used_bytes: level(5e10),
    memory_total_bytes: 8.5e10,
    power_watts: level(500 + at),
    power_limit_watts: 700,
    default_power_limit_watts: 700,
    clock_megahertz: level(1900),
    max_clock_megahertz: 1980,
    temperature: level(60),
    throttled: [{ reason: name("reason", 0), share: 0.02 }],
    pcie: {
      generation: 5,
      max_generation: 5,
      width: 16,
      max_width: 16,
      received_bytes_per_second: level(1e9),
      sent_bytes_per_second: level(1e9),
      replays: 0,
    },
    nvlink_bytes_per_second: null,
    nvlinks: null,
    nvlink_errors: null,
    ecc: { corrected: 0, uncorrected: 0 },
    xids: 0,
  };
}

function engineOf(at: number, name: Name): EngineFacts {
  const durations = (mean_seconds: number) => ({
    count: 1000,
    mean_seconds,
    p50: { below: 0.3 },
    p95: { near: 2 * mean_seconds },
  });
  return {
    engine: "vllm",
    tags: { engine: String(at), model_name: name("model", at) },
    seconds: 540,
    running: level(60),
    waiting: level(30),
    max_running: 64,
    cache_use: level(0.6),
    cache_tokens: 160_000,
    preemptions_per_second: 0,
    prefix_hit_share: 0.1,
    prompt_tokens_per_second: 6000,
    generated_tokens_per_second: 1600,
    requests_per_second: 2.5,
    failed_requests_per_second: null,
    length_limited_share: null,
    prompt_tokens_per_request: 2300,
    generated_tokens_per_request: 600,
    queue: durations(12),
    prefill: durations(0.7),
    first_token: durations(13),
    between_tokens: durations(0.03),
    request: durations(40),
    accepted_share: null,
    tokens_per_step: null,
    uses_graphs: true,
    configuration: { [name("setting", 0)]: name("value", 0) },
    metrics: {},
  };
}
