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
import { secondsFromNs } from "@service/core/time";

/** What became of the windows of a span. */
export interface Loss extends PackOptions {
  instance: InstanceHead;
  /** What happened to them, such as "was accepted". */
  fate: string;
  /** The error that says why. */
  reason: string;
}

/** A window for a span whose windows are lost, with an error in place of their measurements. */
export async function lostWindow(
  { from_ns, to_ns }: Interval,
  { instance, fate, reason, ...options }: Loss,
): Promise<PackedWindow> {
  const window = { ...emptyWindow(from_ns), to_ns };
  window.errors.push({
    level: "error",
    message: `Nothing measured in the ${secondsFromNs(to_ns - from_ns)} s up to here ${fate}: ` +
      "totals lack it",
    exception: reason,
    log_ns: to_ns,
  });
  return await new WindowPacker(instance).pack(window, options);
}

/** The placeholder of a window that the service rejected; `undefined` if that is one itself. */
export async function placeholderOf(
  { frame, block: { instance, table } }: PackedWindow,
  reason: string,
): Promise<PackedWindow | undefined> {
  const { window, final, members } = readWindow(frame, { table });
  if (window.series.size === 0 && window.resources.size === 0) return undefined;
  return await lostWindow(window, { instance, final, members, fate: "was accepted", reason });
}
