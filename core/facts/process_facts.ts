/** Facts of processes and of the host. `null` is not measured. */

import type { Tags } from "../tags.ts";
import type { Level } from "./level.ts";

/** Facts of one process, or of those that are summed by command. */
export interface ProcessFacts {
  /** `process.pid`; `null` for a sum by command. */
  pid: string | null;
  /** Parent within the run, where it is known. */
  parent_pid: string | null;
  /** Command line with secrets removed; `null` where it is not known. */
  command_line: string | null;
  /** Rank in a job of several processes. */
  rank: string | null;
  /** Attributes of its resource. */
  attributes: Tags;
  /** Whether it had ended before the span did. */
  has_ended: boolean;
  /** Seconds of the span in which it ran. */
  seconds: number;
  /** Processors in use: seconds of processor time a second, in user mode. */
  user_cpus: number | null;
  /** Processors in use by the kernel on its behalf. */
  system_cpus: number | null;
  /** Threads. */
  threads: number | null;
  /** Resident memory, bytes. */
  memory_bytes: Level | null;
  /** Times a second that it gave up the processor. */
  voluntary_switches_per_second: number | null;
  /** Times a second that the processor was taken from it. */
  involuntary_switches_per_second: number | null;
  /** Bytes a second read from storage. */
  storage_read_bytes_per_second: number | null;
  /** Bytes a second written to storage. */
  storage_write_bytes_per_second: number | null;
}

/** Facts of the host, all its processes together. */
export interface HostFacts {
  /** `host.name`. */
  name: string | null;
  /** Logical processors that the run may use. */
  cpus: number | null;
  /** Processors that all processes of the run use, those that have ended too. */
  run_cpus: number | null;
  /** Share of all processors in use: 0 to 1. */
  cpu: Level | null;
  /** Shares by mode: user, system, iowait, steal and so on: 0 to 1. */
  cpu_modes: Readonly<Record<string, Level>>;
  /** Memory of the host, bytes. */
  memory_total_bytes: number | null;
  /** Memory in use, bytes. */
  memory_used_bytes: Level | null;
  /** Swap in use, bytes. */
  swap_used_bytes: Level | null;
  /** Share of the time in which work stood still for want of a resource (Linux PSI): 0 to 1. */
  stalled: { resource: string; kind: string; share: number }[];
  /** Bytes a second by disk. */
  disks: { name: string; read_bytes_per_second: number; written_bytes_per_second: number }[];
  /** Bytes a second by network interface. */
  networks: { name: string; received_bytes_per_second: number; sent_bytes_per_second: number }[];
}
