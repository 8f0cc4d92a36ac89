/** Storage of the host: work that stands still for it. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import {
  gained,
  hostOf,
  idleShare,
  pressure,
  STALLED,
  stalled,
  STALLED_FULL,
} from "./host_evidence.ts";
import { busyOf, digits, percent, sum } from "./measures.ts";

/** The finding that work stands still for storage. */
export function storage(facts: InstanceFacts): Finding | null {
  const full = stalled(facts, "io", "full");
  const some = stalled(facts, "io", "some");
  const idle = idleShare(facts);
  if ((full ?? 0) < STALLED_FULL || (some ?? 0) < STALLED) return null;
  if (idle !== null && idle < 0.15) return null;
  const read = sum(facts.host.disks.map((disk) => disk.read_bytes_per_second));
  const written = sum(facts.host.disks.map((disk) => disk.written_bytes_per_second));
  return {
    id: "host/storage",
    class: "host",
    title: `Storage-bound: tasks wait for storage ${percent(some!)} of the time, at ${
      digits(read / 1e6)
    } MB/s read and ${digits(written / 1e6)} MB/s written`,
    share_at_stake: Math.min(full!, idle ?? 1),
    confidence: "medium",
    doubt: "which process waits is not told by the host's pressure",
    evidence: [
      ...pressure("io", "some", some),
      ...pressure("io", "full", full),
      {
        metric: "host_disk_read_bytes",
        tags: {},
        value: read / 1e6,
        unit: "MB/s",
        what: "read from all disks",
      },
      {
        metric: "host_disk_write_bytes",
        tags: {},
        value: written / 1e6,
        unit: "MB/s",
        what: "written to all disks",
      },
      ...(idle === null ? [] : [busyOf(1 - idle)]),
    ],
    remedies: [
      "data on a local or faster disk, or in memory; larger sequential files; checkpoints written in the background",
      "read further ahead",
    ],
    verify: `host_pressure_stall_microseconds of io falls, and ${gained(idle)}`,
    where: hostOf(facts),
    explains: ["gpu_idle/unexplained", "gpu_idle/storage"],
  };
}
