/** Facts: what windows say of an instance, reduced to what rules judge and texts say. */

export type { Activity, CopyWork, DeviceFacts, KernelWork, Link, Work } from "./device_facts.ts";
export type { EngineFacts } from "./engine_facts.ts";
export type { EngineField } from "./engine_names.ts";
export type {
  CaptureState,
  Course,
  CourseStep,
  InstanceFacts,
  Loss,
  MeasuredSpan,
  WorkloadFacts,
} from "./instance_facts.ts";
export type { Durations, Level } from "./level.ts";
export type { HostFacts, ProcessFacts } from "./process_facts.ts";
export { instanceFacts } from "./instance.ts";
export { readFacts } from "./read.ts";
export type { InstanceRead, StepRead } from "./reading.ts";
export { type KernelLabel, kernelLabels } from "./kernel_label.ts";
export { stepLength } from "./step_length.ts";
export { flagOf } from "./workload.ts";
