/** The placeholder of a window that the service rejected. */

import { emptyWindow } from "@service/core";
import { type PackedWindow, readWindow, WindowPacker } from "@service/core/packed";
import { secondsFromNs } from "@service/core/time";

/**
 * A window for the span of a rejected one, with an error in place of its measurements; `undefined` if
 * the rejected one is such a window itself.
 */
export async function placeholderOf(
  { frame, block }: PackedWindow,
  answer: string,
): Promise<PackedWindow | undefined> {
  const { window: { from_ns, to_ns, series, resources }, final } = readWindow(frame, block);
  if (series.size === 0 && resources.size === 0) return undefined;
  const seconds = secondsFromNs(to_ns - from_ns);
  const window = { ...emptyWindow(from_ns), to_ns };
  window.errors.push({
    level: "error",
    message: `Nothing measured in the ${seconds} s up to here was accepted: totals lack it`,
    exception: answer,
    log_ns: to_ns,
  });
  return await new WindowPacker(block.instance).pack(window, { final });
}
