/** The recording of devices: values of the newest poll, and increases from all pollers. */

import { binIndex, describe, type Tags } from "@service/core";
import { rounded } from "@service/core/sum";
import { tsFromNs } from "@service/core/time";
import type { Recorder } from "../recorder.ts";
import type { Segments } from "../segments/segments.ts";
import type { SegmentSeries } from "../segments/tables.ts";
import { deviceAttributes } from "./attributes.ts";
import { mpsMode } from "./mps.ts";
import { type Poller, UUID } from "./poller.ts";
import type { DeviceEnvironment, VisibleDevices } from "./visible.ts";
import { XidEvents } from "./xids.ts";

/** A device and what the workload has it for. */
interface UsedDevice {
  uuid: string;
  use: "device" | "mig_parent";
}

/** The newest poll of a device. */
interface Poll {
  poller: Poller;
  polled_ns: number;
}

/** A poll that was recorded, and the time from the one before. */
interface RecordedPoll extends Poll {
  step_ns: number;
}

/** Gauges of a poll that is older, and late by as much, are not recorded. */
const FRESH_NS = 3e9;
/** A longer step between two polls is a pause. */
const LONGEST_STEP_NS = 30e9;

/** Records devices, each value and each increase once. */
export class DeviceRecording {
  /** The newest poll that was recorded, by uuid. */
  readonly #polls = new Map<string, RecordedPoll>();
  /** Epoch seconds, by uuid. */
  readonly #firstSeen = new Map<string, number>();
  readonly #xids = new XidEvents();
  readonly #start_ns: number;
  readonly #env: DeviceEnvironment;

  /** A recording of a run with `env` that began at `start_ns`: polls before it are not its own. */
  constructor(start_ns: bigint, env: DeviceEnvironment) {
    this.#start_ns = Number(start_ns);
    this.#env = env;
  }

  /** Records `devices` of all `segments`; returns those that were polled just now. */
  record(
    recorder: Recorder,
    segments: Segments<Poller>,
    devices: VisibleDevices["devices"],
  ): Set<string> {
    const pollers: Poller[] = [];
    segments.each((poller) => {
      for (const uuid of devices.keys()) this.#recordIncreases(recorder, poller, uuid);
      poller.markRecorded();
      pollers.push(poller);
    });
    const fresh = new Set<string>();
    for (const [uuid, use] of devices) {
      const poll = newestPoll(pollers, uuid);
      if (!poll) continue;
      this.#recordGap(recorder, uuid, poll);
      this.#recordResource(recorder, { uuid, use }, poll);
      const recorded = this.#step(uuid, poll);
      if (isFresh(recorded, recorder.now_ns) && poll.poller.holding(uuid, "lost").length === 0) {
        fresh.add(uuid);
        this.#recordGauges(recorder, uuid, poll);
      }
      this.#polls.set(uuid, recorded);
    }
    return fresh;
  }

  /** A driver that answers slowly makes the steps longer. */
  #step(uuid: string, poll: Poll): RecordedPoll {
    const before = this.#polls.get(uuid);
    const step_ns = poll.polled_ns - (before?.polled_ns ?? poll.polled_ns);
    if (step_ns === 0) return { ...poll, step_ns: before?.step_ns ?? 0 };
    return { ...poll, step_ns: step_ns > 0 && step_ns < LONGEST_STEP_NS ? step_ns : 0 };
  }

  #recordIncreases(recorder: Recorder, poller: Poller, uuid: string): void {
    for (const series of poller.metrics(uuid)) {
      if (series.type !== "counter") continue;
      recorder.counter(series.name, series.tags, poller.increase(series));
    }
    for (const series of poller.facts(uuid, "xid")) {
      this.#xids.add(recorder, series.tags, rounded(poller.increase(series)));
    }
  }

  /** What happened between the last poll of one poller and the first of the next is in no counter. */
  #recordGap(recorder: Recorder, uuid: string, { poller, polled_ns }: Poll): void {
    const before = this.#polls.get(uuid);
    const gap_ns = before && before.poller !== poller ? polled_ns - before.polled_ns : 0;
    recorder.counter("profiler_device_gap_nanoseconds", tagsOf(poller, uuid), Math.max(0, gap_ns));
  }

  #recordResource(recorder: Recorder, { uuid, use }: UsedDevice, { poller }: Poll): void {
    const attributes = poller.alive ? deviceAttributes(poller, uuid) : null;
    if (!attributes) return;
    const first_seen_ts = this.#firstSeen.get(uuid) ?? tsFromNs(recorder.now_ns);
    this.#firstSeen.set(uuid, first_seen_ts);
    const described = {
      ...attributes,
      "device.mps_mode": mpsMode(this.#env),
      // It is not for the workload, which uses its MIG devices.
      ...(use === "mig_parent" && { "device.use": use }),
    };
    recorder.resource("device", { [UUID]: uuid }, described, first_seen_ts);
    const unsupported = poller.holding(uuid, "unsupported").length;
    recorder.gauge("profiler_unsupported_metrics", tagsOf(poller, uuid), unsupported);
  }

  #recordGauges(recorder: Recorder, uuid: string, { poller, polled_ns }: Poll): void {
    const before = this.#polls.get(uuid);
    // The clock may have been set back.
    const isNew = before ? polled_ns !== before.polled_ns : polled_ns > this.#start_ns;
    for (const series of poller.metrics(uuid)) {
      const value = series.type === "gauge" ? poller.value(series) : null;
      if (value === null) continue;
      recorder.gauge(series.name, series.tags, value);
      if (isNew) recordDistribution(recorder, series, value);
    }
  }
}

function isFresh({ polled_ns, step_ns }: RecordedPoll, now_ns: bigint): boolean {
  return Number(now_ns) - polled_ns <= FRESH_NS + step_ns;
}

/** The catalogue says which gauges have a distribution. */
function recordDistribution(recorder: Recorder, { name, tags }: SegmentSeries, value: number) {
  const distribution = `${name}_distribution`;
  if (!describe(distribution)) return;
  const bins = new Map([[binIndex(value), 1]]);
  const increase = { count: 1, sum: value, min: value, max: value, buckets: { bins } };
  recorder.histogram(distribution, tags, increase);
}

function newestPoll(pollers: readonly Poller[], uuid: string): Poll | null {
  let newest: Poll | null = null;
  for (const poller of pollers) {
    const polled_ns = poller.polled_ns(uuid);
    if (polled_ns !== null && polled_ns > (newest?.polled_ns ?? 0)) newest = { poller, polled_ns };
  }
  return newest;
}

/** The two tags of every series of a device. */
function tagsOf(poller: Poller, uuid: string): Tags {
  const [polled] = poller.facts(uuid, "polled");
  return polled?.tags ?? { [UUID]: uuid };
}
