/**
 * The source of GPU devices. One run of a user polls a device for all of them, and each run reads the
 * segments of all pollers. It records the devices that its workload may use.
 */

import { recordCaptureState } from "../capture_state.ts";
import type { Recorder } from "../recorder.ts";
import type { SegmentLayout } from "../segments/layout.ts";
import { Segments } from "../segments/segments.ts";
import type { Source } from "../source.ts";
import { PollingFaults } from "./faults.ts";
import { Poller } from "./poller.ts";
import { DeviceRecording } from "./recording.ts";
import {
  type DeviceEnvironment,
  type ListedDevice,
  type VisibleDevices,
  visibleDevices,
} from "./visible.ts";

/** The process that polls for this run, and where the segments of all runs are. */
export interface DeviceSourceOptions {
  directories: readonly string[];
  /** The process whose poller is this run's own. */
  own: Pick<SegmentLayout, "pid" | "start_ticks">;
  /** Start of the run. */
  start_ns: bigint;
  /** Environment of the workload. */
  env: DeviceEnvironment;
}

const CAPTURE = "gpu_devices";

/** A source of GPU devices. */
export function createDeviceSource(options: DeviceSourceOptions): Source & Disposable {
  return new DeviceSource(options);
}

class DeviceSource implements Source, Disposable {
  readonly #segments: Segments<Poller>;
  readonly #recording: DeviceRecording;
  readonly #faults = new PollingFaults();
  readonly #env: DeviceEnvironment;
  readonly #told = new Set<string>();
  /** Whether a segment that is found was there before this run. */
  #beginning = true;
  #refused = 0;
  #refusals: string[] = [];

  constructor({ directories, own, start_ns, env }: DeviceSourceOptions) {
    this.#env = env;
    this.#recording = new DeviceRecording(start_ns, env);
    this.#segments = new Segments({
      directories,
      enter: (segment) => {
        const { pid, start_ticks } = segment.layout;
        const isOwn = pid === own.pid && start_ticks === own.start_ticks;
        return new Poller(segment, { own: isOwn, earlier: this.#beginning });
      },
      refused: (path, why) =>
        this.#refusals.push(`the segment ${path} is refused, its devices are not seen: ${why}`),
    });
  }

  sample(recorder: Recorder): void {
    const isFirst = this.#beginning;
    const pollers = this.#read();
    const own = pollers.find(({ own }) => own);
    const visible = own && own.segment.state !== "starting"
      ? visibleDevices(listedDevices(own), this.#env)
      : null;
    const uuids = [...visible?.devices.keys() ?? []];
    let measured: ReadonlySet<string> = new Set();
    // Until it is known whose they are, increases wait.
    if (visible) {
      measured = this.#recording.record(recorder, this.#segments, visible.devices);
      this.#removeEnded();
    }
    const ours = pollers.filter((poller) => poller.own || uuids.some((uuid) => poller.has(uuid)));
    this.#faults.tell(recorder, ours, measured);
    // The own poller may not have come so far at the start.
    if (visible || !isFirst) {
      recordCaptureState(recorder, {
        capture: CAPTURE,
        captured: measured.size > 0,
        reason: refusalOf(own, visible),
      });
    }
    if (own?.segment.state === "capturing" && visible && visible.devices.size > 0) {
      this.#tellNotes(recorder, [own.segment.reason, visible.note]);
    }
    this.#recordRefusals(recorder);
  }

  #read(): Poller[] {
    this.#segments.discover();
    this.#beginning = false;
    const pollers: Poller[] = [];
    this.#segments.each((poller) => {
      poller.read();
      pollers.push(poller);
    });
    return pollers;
  }

  /** Tells why more or less is reported than a process uses, each once. */
  #tellNotes(recorder: Recorder, notes: readonly (string | null)[]): void {
    for (const note of notes) {
      if (!note || this.#told.has(note)) continue;
      this.#told.add(note);
      recorder.warn(note);
    }
  }

  #removeEnded(): void {
    this.#segments.each((poller, path) => {
      if (!poller.alive) this.#segments.remove(path);
    });
  }

  #recordRefusals(recorder: Recorder): void {
    for (const refusal of this.#refusals) recorder.warn(refusal);
    this.#refusals = [];
    const { refused } = this.#segments;
    recorder.counter("profiler_refused_segments_total", {}, refused - this.#refused);
    this.#refused = refused;
  }

  [Symbol.dispose](): void {
    this.#segments[Symbol.dispose]();
  }
}

/** The devices that the driver lets this run see. */
function listedDevices(own: Poller): ListedDevice[] {
  const number = (text: string | undefined) => text === undefined ? undefined : Number(text);
  return [...own.uuids].flatMap((uuid) =>
    own.holding(uuid, "listed").map((tags) => ({
      uuid,
      bus_id: tags["device.bus_id"] ?? "",
      name: tags["device.name"],
      parent_uuid: tags["device.parent_uuid"],
      gpu_instance: number(tags["device.gpu_instance"]),
      compute_instance: number(tags["device.compute_instance"]),
    }))
  );
}

/** The reason that no device is ever measured; other reasons change, and would make a series each. */
function refusalOf(
  own: Poller | undefined,
  visible: VisibleDevices | null,
): string | undefined {
  if (own?.segment.state === "refused") return own.segment.reason;
  return visible?.devices.size === 0 ? visible.note ?? undefined : undefined;
}
