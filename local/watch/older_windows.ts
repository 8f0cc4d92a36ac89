/** Windows of the run that are too old for the history, from its run file. */

import { emptyWindow, type Interval, type Selection } from "@service/core";
import { waitFor } from "../base/patience.ts";
import type { RunsReader } from "../runs/reader.ts";
import type { SpanReading, WindowSource } from "../serve/windows.ts";

/** How long an answer waits for the disk; a day of windows is read in a second or two. */
const PATIENCE_MS = 5_000;

/** The windows in the file of a run. While the disk does not answer there are none. */
export function olderWindows(
  reader: Pick<RunsReader, "windows">,
  instance_id: string,
  patience_ms = PATIENCE_MS,
): WindowSource {
  // Each read that hangs holds one of the process's few threads for files.
  let hanging = 0;

  async function readFile(span: Interval, selection: Selection): Promise<SpanReading | undefined> {
    for await (const read of reader.windows([instance_id], span, selection)) return read;
  }

  return {
    async read(span, { metrics } = {}) {
      const nothing = { window: emptyWindow(span.from_ns), payload_ns: span.from_ns, gaps: [] };
      if (hanging > 0) return nothing;
      let late = false;
      const reading = readFile(span, { metrics }).catch(() => undefined).finally(() => {
        if (late) hanging--;
      });
      const read = await waitFor(reading.then((found) => found ?? nothing), patience_ms);
      if (read) return read;
      late = true;
      hanging++;
      return nothing;
    },
  };
}
