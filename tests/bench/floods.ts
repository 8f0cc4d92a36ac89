/** Benchmark of floods: much output with a few errors in it, in a regular file and through a pipe. */

import { openSieve } from "../../local/base/native.ts";
import { NEEDLES } from "../../local/sources/console/needles.ts";
import { findNeedle } from "../../local/sources/console/scan.ts";
import { command } from "../command.ts";
import { namesOf, runFlood, writeFlood } from "../end_to_end/flood.ts";
import { medianMs, type Row } from "./row.ts";

const LIBRARY = new URL("../../ffi/build/libconsole.so", import.meta.url).pathname;
const FILE = { megabytes: 200, names: namesOf(20) };
const PIPE = { megabytes: 1_000, names: namesOf(100) };

/** Figures of floods; none without the native part. */
export async function benchFloods(directory: string): Promise<Row[]> {
  const sieve = openSieve(LIBRARY, NEEDLES);
  if (!sieve) return [];
  const path = `${directory}/flood`;
  await writeFlood(path, FILE);
  const bytes = (await Deno.readFile(path)).subarray(0, 1_000_000);
  const file = await runFlood(path, { directory, redirection: `> ${directory}/log` });
  await writeFlood(path, PIPE);
  const pipe = await runFlood(path, { directory, redirection: "| md5sum > /dev/null" });
  const bare = await seconds(`cat ${path} | md5sum > /dev/null`);
  await Promise.all([path, `${directory}/log`].map((path) => Deno.remove(path)));
  return [
    {
      what: "console search for needles, native",
      figure: 1 / await medianMs(() => sieve(bytes, 0, bytes.length)),
      unit: "GB/s",
      comparison: {
        what: "the same in TypeScript",
        figure: 1 / await medianMs(() => findNeedle(bytes, 0, bytes.length)),
      },
    },
    {
      what: "console in a regular file, 200 MB with 20 errors, errors found",
      figure: file.names.length,
      unit: "",
      target: { atLeast: FILE.names.length },
    },
    {
      what: "console in a regular file, 200 MB, processor time of the watcher",
      figure: file.cpu_seconds,
      unit: "s",
    },
    {
      what: "console in a pipe to md5sum, 1 GB with 100 errors, errors found",
      figure: pipe.names.length,
      unit: "",
    },
    {
      what: "console in a pipe to md5sum, 1 GB, looked at",
      figure: 100 - pipe.lost_bytes / PIPE.megabytes / 1e4,
      unit: "%",
      comparison: { what: "GB/s of the pipe alone", figure: 1 / bare },
    },
  ];
}

async function seconds(script: string): Promise<number> {
  const start_ms = performance.now();
  await command(["bash", "-c", script]).output();
  return (performance.now() - start_ms) / 1_000;
}
