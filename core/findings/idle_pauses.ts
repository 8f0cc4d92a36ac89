/**
 * Pauses: devices that are busy while work goes on, and stand still between its parts, as for a checkpoint,
 * a validation or the next requests. What launches, waits or input cost within the work does not explain
 * them: the steps with most work show it.
 */

import type { InstanceFacts } from "../facts/mod.ts";
import { busyCourse, correlation, steadyCourse, steadySeconds } from "./courses.ts";
import type { Evidence, Finding } from "./finding.ts";
import { base, busyEvidence, type Idle, idleShare } from "./idle_devices.ts";
import { busyShare, digits, percent, sum } from "./measures.ts";

/** Steps of which the busiest fourth shows how work goes when it goes. */
const LEAST_STEPS = 8;

/** Share of the idle time that must be outside of the busiest steps. */
const OUTSIDE_SHARE = 0.6;

/** A step with less than this share of the usual work is a pause. */
const PAUSE_SHARE = 0.5;

/** Correlation with idle time from which on another course goes with it: at 30 steps p is below 0.001. */
const GOES_WITH = 0.6;

/** Share of the time in which the device is idle while work goes on; `null` where steps are too few. */
function idleAtWork(facts: InstanceFacts, { device }: Idle): number | null {
  const busy = busyCourse(facts, device.uuid);
  if (busy.length < LEAST_STEPS) return null;
  return Math.max(0, 1 - busy.toSorted((a, b) => b - a)[busy.length >> 2]!);
}

/** The finding that work stands still from time to time. */
export function pauses(facts: InstanceFacts, found: Idle): Finding | null {
  const { device, idle, all } = found;
  const atWork = idleAtWork(facts, found);
  const share = 1 - busyShare(device);
  if (atWork === null || atWork > (1 - OUTSIDE_SHARE) * share) return null;
  const busy = busyCourse(facts, device.uuid);
  const seconds = steadySeconds(facts);
  const usual = 1 - atWork;
  const idleCourse = busy.map((one) => usual - one);
  const paused = sum(seconds.filter((_, at) => busy[at]! < PAUSE_SHARE * usual));
  const writes = steadyCourse(facts, (metric) => metric === "host_disk_write_bytes");
  const reads = steadyCourse(facts, (metric) => metric === "host_disk_read_bytes");
  const isWriting = correlation(idleCourse, writes) >= GOES_WITH;
  const isReading = !isWriting && correlation(idleCourse, reads) >= GOES_WITH;
  const most = Math.max(0, ...(isWriting ? writes : reads).map((one) => one ?? 0));
  const disk: Evidence[] = isWriting || isReading
    ? [{
      metric: isWriting ? "host_disk_write_bytes" : "host_disk_read_bytes",
      tags: {},
      value: most / 1e6,
      unit: "MB/s",
      what: `most ${isWriting ? "written" : "read"} in a step: it goes with the idle time`,
    }]
    : [];
  return {
    ...base(idle, all),
    id: isWriting ? "gpu_idle/writing" : isReading ? "gpu_idle/reading" : "gpu_idle/pauses",
    title:
      `Pauses: the GPU is idle ${
        percent(idleShare(idle))
      } of the time, nearly all of it in parts of the span in which work stands still` +
      (isWriting
        ? `, while up to ${digits(most / 1e6)} MB/s are written, as a checkpoint is`
        : isReading
        ? `, while up to ${digits(most / 1e6)} MB/s are read`
        : "") +
      `; while it goes on the GPU is idle ${percent(atWork)}`,
    confidence: isWriting || isReading ? "medium" : "low",
    doubt: isWriting || isReading
      ? "that work waits for storage is concluded from what happens at the same time"
      : "what the work waits for in its pauses is not in the data: validation, compilation, peers, or nothing to do",
    evidence: [
      busyEvidence(idle),
      {
        metric: "gpu_busy_nanoseconds",
        tags: { "device.uuid": device.uuid },
        value: 100 * usual,
        unit: "%",
        what: "share of the time with work in the busiest fourth of the steps",
      },
      {
        metric: "gpu_busy_nanoseconds",
        tags: { "device.uuid": device.uuid },
        value: paused,
        unit: "s",
        what: "length of all steps with less than half of the usual work",
      },
      ...disk,
    ],
    remedies: isWriting
      ? [
        "write checkpoints in the background: torch.distributed.checkpoint.async_save, or a copy to host memory that another thread writes",
        "write them less often, sharded over ranks, or to a faster disk",
      ]
      : isReading
      ? ["read ahead while the GPU works, and keep workers alive between epochs"]
      : ["none before the cause is known"],
    verify:
      "read a pause by itself (start and end of a step without work): what processes and disks do then",
    explains: ["gpu_idle/unexplained", "host/storage"],
  };
}
