/** Windows of the run that are too old for the history, from its run file. */

import { emptyWindow } from "@service/core";
import { waitFor } from "../base/patience.ts";
import type { RunsReader } from "../runs/reader.ts";
import type { WindowSource } from "../serve/windows.ts";

/** How long an answer waits for the disk; a day of windows is read in a second or two. */
const PATIENCE_MS = 5_000;

/** The file of a run. */
export interface OlderWindowsOptions {
  reader: Pick<RunsReader, "windows" | "steps">;
  instance_id: string;
  /** How long an answer waits for the disk. */
  patience_ms?: number;
}

/** The windows in the file of a run. While the disk does not answer there are none. */
export function olderWindows(options: OlderWindowsOptions): WindowSource {
  const { reader, instance_id, patience_ms = PATIENCE_MS } = options;
  // Each read that hangs holds one of the process's few threads for files.
  let hanging = 0;

  /** The next value; `undefined` if there is none, or not in time. */
  async function nextOf<T>(values: AsyncGenerator<T>): Promise<T | undefined> {
    if (hanging > 0) return undefined;
    let isLate = false;
    const reading = values.next()
      .catch(() => ({ done: true as const, value: undefined }))
      .finally(() => isLate && hanging--);
    const next = await waitFor(reading, patience_ms);
    if (next) return next.done ? undefined : next.value;
    isLate = true;
    hanging++;
  }

  return {
    async read(span, { metrics } = {}) {
      const found = reader.windows([instance_id], span, { metrics });
      const nothing = { window: emptyWindow(span.from_ns), payload_ns: span.from_ns, gaps: [] };
      const read = await nextOf(found) ?? nothing;
      end(found);
      return read;
    },
    async *steps(span, { metrics } = {}) {
      const found = reader.steps(instance_id, span, { metrics });
      try {
        for (let step; (step = await nextOf(found));) yield step;
      } finally {
        end(found);
      }
    },
  };
}

/** Closes what was read from, which is not waited for: it may hang. */
function end(values: AsyncGenerator<unknown>): void {
  values.return(undefined).catch(() => {});
}
