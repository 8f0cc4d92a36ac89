/** Synchronization-bound devices: host and device take turns, since the host waits for each result. */

import type { InstanceFacts } from "../facts/mod.ts";
import type { Finding } from "./finding.ts";
import {
  base,
  busyEvidence,
  type Idle,
  idleShare,
  threadEvidence,
  threadOf,
} from "./idle_devices.ts";
import { busyShare, digits, percent, sum, type WorkedDevice } from "./measures.ts";

/**
 * Idle time for each wait up to which taking turns explains it: after a wait the host launches the next
 * piece of work. Beyond it the host does something else; with a value read each time, it does that with it.
 */
const TURN_SECONDS = 5e-3;

/** The same where a value is read to the host in each turn. */
const READ_TURN_SECONDS = 20e-3;

/** Waits a second from which on taking turns is a habit, not an end of a batch. */
const TURNS_PER_SECOND = 20;

/** Copies this small carry a value, not data. */
const VALUE_BYTES = 4096;

/** Commands of inference engines. */
const ENGINE = /\b(?:vllm|sglang|llama-server|text-generation-launcher|trtllm-serve)\b/;

/** Waits that each step of an engine has by design: for its tokens, and for a prompt's beside it. */
const WAITS_A_STEP = 2;

/** The finding that host and device take turns. */
export function syncBound(facts: InstanceFacts, { device, idle, all }: Idle): Finding | null {
  const { activity } = device;
  const seconds = activity.captured_seconds;
  const waits = activity.waits.filter(({ name }) => name !== "stream_wait_event");
  const perSecond = sum(waits.map(({ times }) => times)) / seconds;
  const gap = (1 - busyShare(device)) / perSecond;
  const values = activity.copies.filter(({ name, bytes, times }) =>
    /to_host$/.test(name) && bytes !== null && bytes / times <= VALUE_BYTES
  );
  const reads = sum(values.map(({ times }) => times)) / seconds;
  const isRead = reads >= 0.5 * perSecond;
  if (!(perSecond >= TURNS_PER_SECOND) || gap > (isRead ? READ_TURN_SECONDS : TURN_SECONDS)) {
    return null;
  }
  if (perSecond <= WAITS_A_STEP * stepsPerSecond(facts, device)) return null;
  const cpus = threadOf(facts, device);
  return {
    ...base(idle, all),
    id: "gpu_idle/sync_bound",
    title:
      `Synchronization-bound: the host waits for the GPU ${
        digits(perSecond)
      } times a second, so that both take ` +
      `turns, and the GPU is idle ${percent(idleShare(idle))} of the time`,
    confidence: isRead ? "high" : "medium",
    doubt: isRead
      ? ""
      : "waits may also be what ends each batch; few small copies to the host go with them",
    evidence: [
      busyEvidence(idle),
      {
        metric: `${activity.source}_sync_nanoseconds`,
        tags: {},
        value: perSecond,
        unit: "waits/s",
        what: "waits of the host's threads for the device",
      },
      {
        metric: `${activity.source}_sync_nanoseconds`,
        tags: {},
        value: 100 * sum(waits.map((wait) => wait.seconds)) / seconds,
        unit: "%",
        what: "share of the time in which a thread waited",
      },
      {
        metric: `${activity.source}_memcpy_nanoseconds`,
        tags: { kind: "device_to_host" },
        value: reads,
        unit: "copies/s",
        what: `copies to the host of at most ${VALUE_BYTES} bytes, as .item() and .cpu() make`,
      },
      {
        metric: "gpu_busy_nanoseconds",
        tags: {},
        value: gap * 1e6,
        unit: "µs",
        what: "idle time for each wait",
      },
      ...threadEvidence(cpus),
    ],
    remedies: [
      "keep losses and metrics on the device, and read them every N steps only",
      "remove .item(), .cpu(), .nonzero(), print of tensors and torch.cuda.synchronize() from the step",
      "copy to pinned memory with non_blocking=True, and read it a step later",
    ],
    verify:
      'torch.cuda.set_sync_debug_mode("warn") names the calls; afterwards waits a second fall and the busy share rises',
    explains: ["gpu_idle/host_bound", "transfers/small", "host/one_thread"],
  };
}

/**
 * Steps a second of the engines at most: each gives a request its next token. Of an engine whose metrics
 * are not read, the replays of its graphs. 0 without engines.
 */
function stepsPerSecond(
  { engines, workload }: InstanceFacts,
  { activity }: WorkedDevice,
): number {
  if (engines.length === 0 && ENGINE.test(workload.command_line ?? "")) {
    return sum(activity.graphs.map(({ times }) => times)) / activity.captured_seconds;
  }
  return sum(
    engines.map(({ between_tokens, tokens_per_step }) =>
      between_tokens && between_tokens.mean_seconds > 0
        ? 1 / between_tokens.mean_seconds / (tokens_per_step ?? 1)
        : 0
    ),
  );
}
