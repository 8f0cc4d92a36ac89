/** Benchmark of the local context: CPU of an answer for the last ten minutes of a large job. */

import process from "node:process";
import { absorb, emptyWindow } from "@service/core";
import { WindowPacker } from "@service/core/packed";
import { SECOND_NS } from "@service/core/time";
import { createEndpoint } from "../../local/serve/endpoint.ts";
import { RunsReader } from "../../local/runs/reader.ts";
import { RunFile } from "../../local/runs/run_file.ts";
import { History } from "../../local/watch/history.ts";
import { preferKept } from "../../local/watch/kept_windows.ts";
import { olderWindows } from "../../local/watch/older_windows.ts";
import { temporaryDirectory } from "../temporary_directory.ts";
import { jobWindow } from "./context_data.ts";
import type { Row } from "./row.ts";

/** Answers that are measured, after some that warm up. */
const [WARM_UP, ANSWERS] = [3, 10];

/** Windows of a second, as the watcher keeps them. */
const TICKS = 600;

/** Figures of answers while a run goes on. */
export async function benchLocalContext(): Promise<Row[]> {
  const first = jobWindow(0, 1);
  const total = emptyWindow(first.from_ns);
  const instance = {
    instance_id: "0123456789ab",
    profiler_version: "0.0.0",
    start_ns: first.from_ns,
    tags: {},
    attributes: {},
  };
  await using directory = await temporaryDirectory();
  const runFile = new RunFile({ instance, directory: directory.path, warn: console.error });
  const packer = new WindowPacker(instance);
  const history = new History(new WindowPacker(instance));
  let cut = emptyWindow(first.from_ns);
  for (let tick = 0; tick < TICKS; tick++) {
    const window = jobWindow(tick, 1);
    await history.add(window);
    absorb(total, window);
    absorb(cut, window);
    if (cut.to_ns % (10n * SECOND_NS) !== 0n) continue;
    await runFile.add(await packer.pack(cut));
    cut = emptyWindow(cut.to_ns);
  }
  await runFile.finish(10_000);
  const reader = new RunsReader(directory.path);
  const windows = preferKept(history, olderWindows({ reader, ...instance }));
  const endpoint = createEndpoint({
    total,
    windows,
    instance,
    context: { "instance.id": instance.instance_id },
    version: "0.0.0",
    host: "127.0.0.1",
    now_ns: () => total.to_ns,
    ready: Promise.resolve(),
  });
  const ask = async () => {
    const request = new Request("http://127.0.0.1/context", { headers: { host: "127.0.0.1" } });
    const response = await endpoint(request);
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot measure the context: ${text}`);
  };
  for (let i = 0; i < WARM_UP; i++) await ask();
  const before = process.cpuUsage();
  for (let i = 0; i < ANSWERS; i++) await ask();
  const { user, system } = process.cpuUsage(before);
  return [{
    what: `GET /context, ${TICKS / 60} minutes on 8 GPUs, CPU`,
    figure: (user + system) / 1_000 / ANSWERS,
    unit: "ms",
    target: { atMost: 50 },
  }];
}
