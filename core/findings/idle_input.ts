/** Input-starved devices: the process that feeds them waits for its loaders or for storage. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import { base, busyEvidence, type Idle, idleShare } from "./idle_devices.ts";
import { cpusOf, driverOf, percent, sum } from "./measures.ts";

/** A process that uses less waits for something. */
const WAITING_CPUS = 0.5;

/** The finding that input does not come fast enough. */
export function inputStarved(facts: InstanceFacts, { device, idle, all }: Idle): Finding | null {
  const driver = driverOf(facts, device);
  const cpus = driver && cpusOf(driver);
  if (driver === null || cpus === null || cpus >= WAITING_CPUS) return null;
  const workers = facts.processes.filter((process) =>
    !process.has_ended && process.parent_pid === driver.pid && (cpusOf(process) ?? 0) >= 0.7
  );
  const read = sum(facts.host.disks.map((disk) => disk.read_bytes_per_second));
  const io = facts.host.stalled.find(({ resource, kind }) => resource === "io" && kind === "some")
    ?.share ?? 0;
  const iowait = facts.host.cpu_modes.iowait?.mean ?? 0;
  const isStorage = io >= 0.2 || iowait >= 0.1;
  if (workers.length === 0 && !isStorage) return null;
  return {
    ...base(idle, all),
    id: isStorage ? "gpu_idle/storage" : "gpu_idle/input",
    title: isStorage
      ? `Input-starved: the GPU is idle ${
        percent(idleShare(idle))
      } of the time, while work stands still for storage`
      : `Input-starved: the GPU is idle ${
        percent(idleShare(idle))
      } of the time, while ${workers.length} loader ` +
        "processes work without pause and the training process waits",
    confidence: "medium",
    doubt: "that the process waits for its loaders is concluded from processor times",
    evidence: [
      busyEvidence(idle),
      {
        metric: "process_user_cpu_seconds",
        tags: { "process.pid": driver.pid! },
        value: cpus,
        unit: "CPUs",
        what: "processors used by the process that feeds the GPU: it waits",
      },
      {
        metric: "process_user_cpu_seconds",
        tags: {},
        value: sum(workers.map((one) => cpusOf(one) ?? 0)),
        unit: "CPUs",
        what: `processors used by its ${workers.length} busy children`,
      },
      {
        metric: "host_disk_read_bytes",
        tags: {},
        value: read / 1e6,
        unit: "MB/s",
        what: "read from all disks",
      },
      {
        metric: "host_pressure_stall_microseconds",
        tags: { resource: "io", kind: "some" },
        value: 100 * io,
        unit: "%",
        what: "share of the time in which some task waited for storage",
      },
    ],
    remedies: isStorage
      ? [
        "stage the data on a local or faster disk, or in memory; store it in fewer, larger, sequential files",
        "read further ahead: more loader processes, a larger prefetch_factor",
      ]
      : [
        "more loader processes (num_workers) while processors are left, with persistent_workers and a larger prefetch_factor",
        "decode and augment on the GPU (DALI, torchvision v2 on the device), or store decoded data",
      ],
    verify:
      "time the loop with the loader alone, and with one batch used again and again: the first is as slow, the second is fast",
    explains: ["gpu_idle/host_bound", "host/storage", "host/saturated"],
  };
}
