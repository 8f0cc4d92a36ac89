/** The watcher: ticks once a second, serves what it measured, uploads it, and says the last word. */

import { encode, type Tags, type Upload, type Window } from "@service/core";
import { SECOND_NS } from "@service/core/time";
import { createEndpoint, localSignals } from "../serve/endpoint.ts";
import type { Listener } from "../serve/listener.ts";
import { Recorder } from "../sources/recorder.ts";
import type { Source } from "../sources/source.ts";
import { Store } from "./accumulator.ts";
import type { Uploader } from "../upload/sender.ts";

/** What one run is, and what watches it. */
export interface WatcherOptions {
  start_ns: bigint;
  now_ns: () => bigint;
  version: string;
  /** Tags of the instance. */
  context: Tags;
  attributes: Tags;
  sources: readonly Source[];
  listener: Listener;
  /** Absent without a key. */
  upload?: (complain: (why: string) => void) => Promise<Uploader>;
  /** Tells the user; what it hears is in the payload's `errors` as well. */
  complain: (why: string) => void;
}

/** A running watcher. */
export interface Watcher {
  /** Measures a last time, uploads the last window, stops listening; the text of the last payload. */
  finish(): Promise<string>;
}

/** Windows are cut for upload where a whole second is a multiple of so many. */
const UPLOAD_SECONDS = 10n;

/** A reader gets what is no older than this, and waits no longer for it to be measured. */
const FRESH_MS = 20;

/** What reading the answers may take beside waiting for them. */
const GRACE_MS = 10;

/** How long the end of the run waits for the last upload. */
const PATIENCE_MS = 3_000;

/** A watcher that ticks, serves and uploads until it is finished. */
export function startWatcher(options: WatcherOptions): Watcher {
  const { start_ns, now_ns, version, context, attributes, listener } = options;
  const store = new Store(start_ns);
  /** The end of the last tick; between ticks refreshes may have moved the store further. */
  let ticked_ns = start_ns;
  let tick_ns: bigint | undefined;
  const recorder = new Recorder(start_ns, () => tick_ns ?? now_ns());
  const sources = [...options.sources];
  const failed = new Set<Source>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let skipped = 0;
  let finishing = false;
  let working: Promise<void> = Promise.resolve();
  let refreshing: Promise<void> | undefined;
  let fresh_ms = -Infinity;

  function complain(why: string): void {
    options.complain(why);
    recorder.error({ level: "warning", message: `service-run: ${why}`, exception: "" });
  }

  const uploading = options.upload && Promise.try(options.upload, complain).then((uploader) => {
    sources.push(uploader);
    return uploader;
  }, (error) => complain(`cannot upload: ${error.message}`));

  async function measure(to_ns: bigint): Promise<void> {
    tick_ns = to_ns;
    for (const source of sources) {
      try {
        await source.sample(recorder);
      } catch (error) {
        if (!failed.has(source)) complain(`a source failed, its metrics lack: ${error}`);
        failed.add(source);
      }
    }
    recorder.counter("profiler_skipped_ticks_total", {}, skipped);
    skipped = 0;
    keep(to_ns);
    ticked_ns = to_ns;
  }

  function keep(to_ns: bigint): void {
    store.add(recorder.cut(to_ns));
    tick_ns = undefined;
  }

  async function upload(window: Window, final: boolean): Promise<void> {
    const uploader = await uploading;
    const { "instance.id": instance_id = "" } = context;
    const body: Upload = {
      instance_id,
      profiler_version: version,
      start_ns,
      tags: context,
      attributes,
      final,
      window,
    };
    await uploader?.add(body);
  }

  /** Measures up to the whole second just passed; one that comes late stands for those it missed. */
  async function tick(): Promise<void> {
    const last_ns = ticked_ns;
    const to_ns = now_ns() / SECOND_NS * SECOND_NS;
    if (to_ns <= last_ns) return;
    skipped = Math.max(0, Number((to_ns - last_ns) / SECOND_NS) - 1);
    await measure(to_ns);
    const due = to_ns / SECOND_NS / UPLOAD_SECONDS > last_ns / SECOND_NS / UPLOAD_SECONDS;
    if (due && options.upload) await upload(store.cut(), false);
  }

  /** Measures what can be between two ticks; never past the next one, whose window ends on its second. */
  async function measureFresh(): Promise<void> {
    const next_ns = (ticked_ns / SECOND_NS + 1n) * SECOND_NS;
    const now = now_ns();
    const last_ns = store.total.to_ns;
    const until_ns = now < next_ns ? now : next_ns - 1n;
    const to_ns = until_ns > last_ns ? until_ns : last_ns + 1n;
    if (finishing || to_ns >= next_ns) return;
    tick_ns = to_ns;
    for (const source of sources) {
      if (!source.canRefresh?.()) continue;
      // A fault is told by the tick, which meets it too.
      await source.refresh?.(recorder).catch(() => {});
    }
    keep(to_ns);
    fresh_ms = performance.now();
  }

  /** One refresh for all who ask meanwhile; nobody waits for a long tick. */
  function refresh(): Promise<void> | undefined {
    if (performance.now() - fresh_ms < FRESH_MS) return undefined;
    if (!sources.some((source) => source.canRefresh?.())) return undefined;
    refreshing ??= alone(measureFresh).finally(() => refreshing = undefined);
    return atMost(refreshing, FRESH_MS + GRACE_MS);
  }

  /** Runs one tick or refresh after the other. */
  function alone(work: () => Promise<void>): Promise<void> {
    const done = working.then(work);
    working = done.catch(() => {});
    return done;
  }

  function schedule(): void {
    const untilNextSecond_ms = 1_000 - Number(now_ns() % SECOND_NS) / 1e6;
    timer = setTimeout(() => {
      ticking = alone(tick).catch((error) => complain(`a tick failed: ${error}`)).then(schedule);
    }, untilNextSecond_ms + 1);
  }

  const ready = alone(() => measure(start_ns + 1n));
  let ticking = ready.then(schedule);

  const endpoint = createEndpoint({
    total: store.total,
    context,
    version,
    host: listener.host,
    now_ns,
    ready,
    refresh,
  });
  listener.serve(endpoint, complain);

  return {
    async finish() {
      clearTimeout(timer);
      await ticking;
      clearTimeout(timer);
      await Promise.allSettled(sources.map((source) => source.settle?.()));
      finishing = true;
      await alone(() => measure((now_ns() / SECOND_NS + 1n) * SECOND_NS));
      if (options.upload) await upload(store.cut(), true);
      await Promise.all([
        listener.close(),
        uploading?.then((uploader) => uploader?.finish(PATIENCE_MS)),
      ]);
      return encode(localSignals({ total: store.total, context, version, now_ns }));
    },
  };
}

/** Resolves when `work` does, or after `limit_ms`; a failure of it is not this reader's. */
async function atMost(work: Promise<void>, limit_ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((done) => timer = setTimeout(done, limit_ms));
  await Promise.race([work.catch(() => {}), late]);
  clearTimeout(timer);
}
