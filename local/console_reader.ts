/** The console as the supervisor shows it: a ring behind a descriptor, and how the workload ended. */

import type { ExitStatus } from "./console_exit.ts";
import type { ConsoleReader } from "./console_source.ts";
import { RingReader } from "./ring.ts";

/**
 * A reader of the ring in `file`; `status` tells how the workload ended, once it has.
 *
 * @throws {TypeError} If the file is not a ring.
 */
export function createConsoleReader(
  file: Deno.FsFile,
  status: () => ExitStatus | null,
): ConsoleReader {
  const ring = new RingReader(file);
  let lost = 0;
  return {
    status,
    read(console) {
      for (const { stream, ...chunk } of ring.read()) {
        if (stream === 0 || stream === 1 || stream === 2) console.write({ stream, ...chunk });
      }
      if (ring.lost > lost) console.lost(ring.lost - lost);
      lost = ring.lost;
    },
  };
}
