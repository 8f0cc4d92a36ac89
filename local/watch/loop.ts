/** The watcher's loop: samples once a second, serves and uploads, and writes the final snapshot. */

import { encode, type Tags } from "@service/core";
import { type InstanceHead, WindowPacker } from "@service/core/packed";
import { earlier, later, SECOND_NS } from "@service/core/time";
import { errorText } from "../base/log.ts";
import { RunsReader } from "../runs/reader.ts";
import { RunFile } from "../runs/run_file.ts";
import { createEndpoint } from "../serve/endpoint.ts";
import { localSignals } from "../serve/signals.ts";
import type { Listener } from "../serve/listener.ts";
import type { WindowSource } from "../serve/windows.ts";
import type { Source } from "../sources/source.ts";
import type { Uploader } from "../upload/spools.ts";
import { History } from "./history.ts";
import { joinWindows } from "./joined_windows.ts";
import { preferKept } from "./kept_windows.ts";
import { olderWindows } from "./older_windows.ts";
import { createRefresh } from "./refresh.ts";
import { Sampler, type SamplerOptions } from "./sampler.ts";
import { Ticker } from "./ticker.ts";

/** What uploads the windows of a run. */
export type Upload = Source & Pick<Uploader, "add" | "finish">;

/** One run, its sources, and the receivers of its values. */
export interface WatcherOptions extends Omit<SamplerOptions, "history"> {
  version: string;
  /** Tags of the instance. */
  context: Tags;
  attributes: Tags;
  listener: Listener;
  /** Directory of run files; absent: the run leaves none. */
  runs?: string;
  /** Starts the upload; absent without a key. */
  upload?: (instance: InstanceHead, warn: (message: string) => void) => Upload;
}

/** A running watcher. */
export interface Watcher {
  /** Reads at once what the workload takes with it: it gets a signal that may end it. */
  hurry(): void;
  /**
   * Measures a last time, uploads the last window, stops listening; the text of the last payload, which
   * ends at `ended_ns`, as the run did, or now.
   */
  finish(ended_ns?: bigint): Promise<string>;
}

/** How long the end of the run waits for the last upload, and for its run file. */
const PATIENCE_MS = 3_000;

/** A watcher that samples, serves and uploads until it is finished. */
export function startWatcher(options: WatcherOptions): Watcher {
  const { start_ns, now_ns, version, context, attributes, listener, runs } = options;
  const instance: InstanceHead = {
    instance_id: context["instance.id"] ?? "",
    profiler_version: version,
    start_ns,
    tags: context,
    attributes,
  };
  const history = new History(new WindowPacker(instance));
  const sampler = new Sampler({ ...options, history });
  const warn = (message: string) => sampler.warn(message);
  const packer = new WindowPacker(instance);
  const runFile = runs === undefined ? undefined : new RunFile({ instance, directory: runs, warn });
  const upload = startUpload();
  const receivers = [runFile, upload].filter((receiver) => receiver !== undefined);
  for (const receiver of receivers) sampler.add(receiver);

  function startUpload(): Upload | undefined {
    try {
      return options.upload?.(instance, warn);
    } catch (error) {
      warn(`cannot upload: ${errorText(error)}`);
    }
  }

  /** Hands the window since the last cut on; it is the last one if the run ended, at `ended_ns`. */
  async function keep(ended_ns?: bigint): Promise<void> {
    // Also where nothing receives it: the next cut starts at its end.
    const cut = sampler.cut();
    // Windows that are kept end on whole seconds.
    cut.to_ns = (cut.to_ns + SECOND_NS - 1n) / SECOND_NS * SECOND_NS;
    if (receivers.length === 0) return;
    const ended = ended_ns === undefined
      ? {}
      : { final: true, members: { ended_ns: later(start_ns, earlier(ended_ns, cut.to_ns)) } };
    const window = await packer.pack(cut, ended);
    for (const receiver of receivers) await receiver.add(window);
  }

  const ticker = new Ticker({
    now_ns,
    async tick() {
      if (await sampler.tick()) await keep();
    },
    failed: (error) => warn(`a tick failed: ${error}`),
  });
  const windows = runs === undefined
    ? history
    : windowsOf(history, olderWindows({ reader: new RunsReader(runs), ...instance }));
  const served = { instance, total: sampler.total, windows, context, version, now_ns };
  const ready = ticker.start(() => sampler.sample(start_ns + 1n));
  const refresh = createRefresh({ sampler, ticker });
  listener.serve(createEndpoint({ ...served, host: listener.host, ready, refresh }));

  return {
    hurry: () => sampler.hurry(),
    async finish(ended_ns = now_ns()) {
      sampler.end(ended_ns);
      await ticker.stop();
      await sampler.settle();
      await ticker.alone(() => sampler.sample(later(ended_ns, sampler.total.to_ns + 1n)));
      await keep(ended_ns);
      await Promise.all([
        listener.close(),
        ...receivers.map((receiver) => receiver.finish(PATIENCE_MS)),
      ]);
      return encode(localSignals(served));
    },
  };
}

/** What is newest comes from memory, what is older or asked for in long steps from the file. */
function windowsOf(history: History, kept: WindowSource): WindowSource {
  return preferKept(joinWindows(history, kept), kept);
}
