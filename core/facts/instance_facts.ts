/** Facts of an instance: what rules judge and texts say, of the part of a span after start-up. */

import type { ErrorEntry } from "../entries.ts";
import type { Interval } from "../gaps.ts";
import type { Instance } from "../payload.ts";
import type { DeviceFacts } from "./device_facts.ts";
import type { EngineFacts } from "./engine_facts.ts";
import type { HostFacts, ProcessFacts } from "./process_facts.ts";

/** What the command line says of the workload. */
export interface WorkloadFacts {
  /** The command line with secrets removed; `null` where it is not known. */
  command_line: string | null;
  /** Program, by its name: `vllm`, `sglang`, `python`, `torchrun`. */
  program: string | null;
  /** Options of the command line in its order: `--enforce-eager` is `["--enforce-eager", null]`. */
  flags: [name: string, value: string | null][];
}

/** The parts of the span that were asked for. */
export interface MeasuredSpan {
  /** The span that was asked for. */
  asked: Interval;
  /** The part of it in which the instance ran, start-up included. */
  ran: Interval;
  /** The part that all facts are of: what ran without its start-up. */
  steady: Interval;
  /** Seconds of `ran` that windows cover. */
  covered_seconds: number;
  /** Seconds of `steady` that windows cover: what sums are divided by. */
  steady_seconds: number;
  /** Seconds of start-up that facts leave out; 0 if none was told apart. */
  startup_seconds: number;
  /** Why start-up was told apart, or could not be; a sentence. */
  startup_reason: string;
  /** Parts of `ran` of which nothing is known. */
  gaps: Interval[];
  /** Whether the workload may still run. */
  is_running: boolean;
}

/** Whether one kind of thing was measured. */
export interface CaptureState {
  /** The kind: `gpu_kernels`, `devices`, `console_errors`, `engine_metrics` and so on. */
  capture: string;
  /** Process or stream that the state is of; empty for all. */
  of: string;
  /** 1 measured, 0 not. */
  is_captured: boolean;
  /** Why not, or what else is to be known; `null` where nothing is told. */
  reason: string | null;
}

/** A sum that says that something is missing; only those above 0. */
export interface Loss {
  /** Metric name, such as `cuda_dropped_records_total`. */
  metric: string;
  /** Over the span. */
  total: number;
}

/** A metric over time, for changes and courses. */
export interface Course {
  /** Metric name. */
  metric: string;
  /** Tags of the series. */
  tags: Readonly<Record<string, string>>;
  /** `level` of a gauge, `rate` a second of a counter, `mean` of a histogram. */
  of: "level" | "rate" | "mean";
  /** One value a step, in order; `null` where the step has none. */
  values: (number | null)[];
}

/** A step of a course. */
export interface CourseStep extends Interval {
  /** Seconds of it that windows cover. */
  seconds: number;
}

/** Facts of one instance. */
export interface InstanceFacts {
  /** The instance. */
  instance: Instance;
  /** The parts of the span. */
  span: MeasuredSpan;
  /** The workload. */
  workload: WorkloadFacts;
  /** What was captured, and what was not. */
  captures: CaptureState[];
  /** Sums above 0 that say that something is missing. */
  losses: Loss[];
  /** Devices by index. */
  devices: DeviceFacts[];
  /** Processes, the busiest first. */
  processes: ProcessFacts[];
  /** The host. */
  host: HostFacts;
  /** Engines. */
  engines: EngineFacts[];
  /** Errors and warnings of all of `ran`, newest first. */
  errors: ErrorEntry[];
  /** Steps of `ran`, start-up included, in order. */
  steps: CourseStep[];
  /** Index of the first step of `steady`. */
  first_steady_step: number;
  /** Courses over `steps` of every series but profiles. */
  courses: Course[];
}
