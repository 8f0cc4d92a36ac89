/** Benchmark of what the profiler keeps on disk: processor time of cutting, packing and writing. */

import process from "node:process";
import { encodeUpload, type Upload, type Window } from "@service/core";
import { type InstanceHead, WindowPacker } from "@service/core/packed";
import { gzip } from "../../local/base/gzip.ts";
import { writeWhole } from "../../local/base/files.ts";
import { RunFile } from "../../local/runs/run_file.ts";
import { Spool } from "../../local/upload/spool.ts";
import { Accumulator } from "../../local/watch/accumulator.ts";
import type { Row } from "./row.ts";
import { sampleUpload } from "./samples.ts";

const SERIES = 300;
const WINDOWS = 1_500;
const WARM_UP = 500;

/** What takes a window that was cut. */
type Keep = (window: Window, at: number) => Promise<void>;

/** Figures of the windows that a run leaves and spools. */
export async function benchKeep(directory: string): Promise<Row[]> {
  const { window: _, ...upload } = sampleUpload("0123456789ab", 0, 0);
  const { final: __, ...instance } = upload;
  const figure = await cpuMs(await jsonFiles(`${directory}/json`, upload));
  const comparison = { what: "as JSON, compressed, each in a file", figure };
  return [
    {
      what: `window of ${SERIES} series to the run file, CPU`,
      figure: await cpuMs(runFile(`${directory}/runs`, instance)),
      unit: "ms",
      target: { atMost: figure / 3 },
      comparison,
    },
    {
      what: `window of ${SERIES} series to the spool, CPU`,
      figure: await cpuMs(await spool(`${directory}/spool`, instance)),
      unit: "ms",
      comparison,
    },
  ];
}

function runFile(directory: string, instance: InstanceHead): Keep {
  const packer = new WindowPacker(instance);
  const run = new RunFile({ instance, directory, warn: fail });
  return async (window) => {
    await run.add(await packer.pack(window));
    while (run.pending > 0) await new Promise((resolve) => setTimeout(resolve, 0));
  };
}

async function spool(directory: string, instance: InstanceHead): Promise<Keep> {
  const packer = new WindowPacker(instance);
  const spool = await Spool.open(directory, { warn: fail });
  return async (window) => await spool.add(await packer.pack(window));
}

async function jsonFiles(directory: string, upload: Omit<Upload, "window">): Promise<Keep> {
  await Deno.mkdir(directory);
  return async (window, at) =>
    await writeWhole(`${directory}/${at}`, await gzip(encodeUpload({ ...upload, window })));
}

/** CPU milliseconds of cutting a window and keeping it. */
async function cpuMs(keep: Keep): Promise<number> {
  const accumulator = new Accumulator(sampleUpload("", 0, 0).window.from_ns);
  let used_us = 0;
  for (let at = 0; at < WARM_UP + WINDOWS; at++) {
    accumulator.add(sampleUpload("", SERIES, at).window);
    const before = process.cpuUsage();
    await keep(accumulator.cut(), at);
    const { user, system } = process.cpuUsage(before);
    if (at >= WARM_UP) used_us += user + system;
  }
  return used_us / WINDOWS / 1_000;
}

function fail(message: string): never {
  throw new Error(message);
}
