/** The console as the supervisor shows it: a ring behind a descriptor, and how the workload ended. */

import type { ExitStatus } from "./exit.ts";
import type { ConsoleReader } from "./source.ts";
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
      for (const chunk of ring.read()) console.write(chunk);
      if (ring.lost > lost) console.lost(ring.lost - lost);
      lost = ring.lost;
    },
  };
}
