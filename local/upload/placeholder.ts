/** Placeholders: windows without measurements for spans whose windows are lost. */

import { emptyWindow } from "@service/core";
import type { Interval } from "@service/core/gaps";
import {
  type InstanceHead,
  type PackedWindow,
  type PackOptions,
  readWindow,
  WindowPacker,
} from "@service/core/packed";
import { SECOND_NS, secondsFromNs } from "@service/core/time";

/** What became of the windows of a span. */
export interface Fate {
  /** What happened to them, such as "was accepted". */
  fate: string;
  /** The error that says why. */
  reason: string;
}

/** Lost windows of an instance. */
export interface Loss extends Fate, PackOptions {
  instance: InstanceHead;
}

/** A window for a span whose windows are lost, with an error in place of their measurements. */
export async function lostWindow(
  { from_ns, to_ns }: Interval,
  { fate, ...loss }: Loss,
): Promise<PackedWindow> {
  const seconds = secondsFromNs(to_ns - from_ns);
  const message = `Nothing measured in the ${seconds} s up to here ${fate}: totals lack it`;
  return await windowOfError(message, { ...loss, from_ns, to_ns });
}

/** The placeholder of a window; `undefined` if that is one itself. */
export async function placeholderOf(
  { frame, block: { instance, table } }: PackedWindow,
  fate: Fate,
): Promise<PackedWindow | undefined> {
  const { window, final, members } = readWindow(frame, { table });
  if (window.series.size === 0 && window.resources.size === 0) return undefined;
  return await lostWindow(window, { instance, final, members, ...fate });
}

/** The last window of an instance whose profiler has ended without one, after its newest at `end_ns`. */
export async function endingWindow(
  end_ns: bigint,
  instance: InstanceHead,
): Promise<PackedWindow> {
  const span = { from_ns: end_ns, to_ns: end_ns + SECOND_NS };
  const message = "The end of the run is lost: the profiler has ended without a last window";
  const reason = `Nothing that it measured after ${secondsFromNs(end_ns)} reached the service`;
  const options = { instance, reason, final: true, members: { ended_ns: end_ns } };
  return await windowOfError(message, { ...options, ...span });
}

async function windowOfError(
  message: string,
  { from_ns, to_ns, instance, reason, ...options }: Omit<Loss, "fate"> & Interval,
): Promise<PackedWindow> {
  const window = { ...emptyWindow(from_ns), to_ns };
  window.errors.push({ level: "error", message, exception: reason, log_ns: to_ns });
  return await new WindowPacker(instance).pack(window, options);
}
