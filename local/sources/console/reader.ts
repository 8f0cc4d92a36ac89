/** The console's reader: the ring of the supervisor, and the regular files that the workload writes itself. */

import type { StreamNumber } from "./console.ts";
import type { ExitStatus } from "./exit.ts";
import { RingReader } from "./ring.ts";
import type { ConsoleReader, ReadStream } from "./source.ts";
import { WrittenFile } from "./written_file.ts";

/** The workload's end, its files, and the clock. */
export interface ConsoleReaderOptions {
  /** How the workload ended, once it has. */
  status: () => ExitStatus | null;
  /** Opens the regular file of a stream. */
  open: (stream: ReadStream["stream"]) => Deno.FsFile;
  now_ns: () => bigint;
}

const NUMBERS = { stdout: 1, stderr: 2 } as const satisfies Record<string, StreamNumber>;

/**
 * A reader of the ring in `file`, and of the files that its header names.
 *
 * @throws {TypeError} If the file is not a ring.
 */
export function createConsoleReader(
  file: Deno.FsFile,
  { status, open, now_ns }: ConsoleReaderOptions,
): ConsoleReader {
  const ring = new RingReader(file);
  const files = ring.streams.flatMap(({ stream, from }) =>
    from === undefined ? [] : [new WrittenFile(open(stream), { stream: NUMBERS[stream], from })]
  );
  let lost_bytes = 0;
  return {
    status,
    streams: ring.streams,
    read(console) {
      for (const chunk of ring.read()) console.write(chunk);
      if (ring.lost_bytes > lost_bytes) console.lost(ring.lost_bytes - lost_bytes);
      lost_bytes = ring.lost_bytes;
      for (const file of files) file.read(console, now_ns());
    },
    get unread_bytes() {
      return files.reduce((sum, file) => sum + file.unread_bytes, 0);
    },
  };
}
