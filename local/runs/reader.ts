/** The reader of run files: the runs of this machine, and their windows. */

import {
  emptyWindow,
  type Instance,
  type InstancePage,
  type InstanceSelection,
  type InstanceWindow,
  type Interval,
  type Selection,
  type SignalsReader,
  type SpanWindow,
  type SteppedSpan,
} from "@service/core";
import { type ScannedWindow, scanWindows, UnknownFormatError } from "@service/core/packed";
import { expectStep, unknownAfter } from "@service/core/reader";
import { hasTags } from "@service/core/tags";
import { chunksOf, listRuns, openRun } from "./directory.ts";
import { mergedSteps } from "./steps.ts";
import { RunSummary } from "./summary.ts";

/** A run of this machine. */
export interface ListedRun {
  /** The instance. */
  instance: Instance;
  /** From its start to its newest window. */
  span: Interval;
  /** Whether its last window is in the file. */
  has_ended: boolean;
}

/** The file that is being read. */
interface Reading {
  id: string;
  /** What is known of the run so far; absent while it is nothing. */
  summary?: RunSummary;
}

/** Reads the run files of a directory in bounded memory. Damaged windows are gaps. */
export class RunsReader implements SignalsReader {
  readonly #directory: string;

  /** Of a directory of run files, which need not exist. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** All runs, the newest first. */
  async runs(): Promise<ListedRun[]> {
    const summaries = await this.#summaries();
    return await Promise.all(summaries.map(async ({ summary }) => ({
      instance: await summary.instance,
      span: { from_ns: summary.start_ns, to_ns: summary.last_ns },
      has_ended: summary.isFinal,
    })));
  }

  async instances(
    { tags = {} }: InstanceSelection,
    { from_ns, to_ns }: Interval,
    { limit, after }: InstancePage,
  ): Promise<Instance[]> {
    const runs = await this.#summaries();
    const last = runs.findIndex(({ id }) => id === after);
    if (after !== undefined && last < 0) throw unknownAfter(after);
    const found = runs.slice(last + 1)
      .filter(({ summary: { start_ns, last_ns } }) => start_ns <= to_ns && last_ns >= from_ns)
      .map(({ summary }) => summary.instance);
    return (await Promise.all(found))
      .filter((instance) => hasTags(instance.tags, tags))
      .slice(0, limit);
  }

  async *windows(
    ids: readonly string[],
    span: Interval,
    selection: Selection,
  ): AsyncGenerator<InstanceWindow> {
    for (const id of new Set(ids)) {
      const reading: Reading = { id };
      const one = { endOf: () => span.to_ns, span, selection };
      const [window] = await Array.fromAsync(mergedSteps(this.#scan(reading), one));
      const { summary } = reading;
      if (!summary) continue;
      const payload_ns = summary.payloadOf(span, window?.to_ns);
      yield {
        instance: await summary.instance,
        window: window ?? emptyWindow(span.from_ns),
        payload_ns,
        gaps: summary.gapsIn({ ...span, to_ns: payload_ns }),
        final: window !== undefined && summary.isLast(window.to_ns),
      };
    }
  }

  async *steps(
    id: string,
    { step_ns, ...span }: SteppedSpan,
    selection: Selection,
  ): AsyncGenerator<SpanWindow> {
    expectStep(step_ns);
    const reading: Reading = { id };
    const endOf = (to_ns: bigint) => {
      const end_ns = (to_ns + step_ns - 1n) / step_ns * step_ns;
      return end_ns < span.to_ns ? end_ns : span.to_ns;
    };
    for await (const window of mergedSteps(this.#scan(reading), { endOf, span, selection })) {
      const payload_ns = endOf(window.to_ns);
      const before_ns = (payload_ns - 1n) / step_ns * step_ns;
      const from_ns = before_ns > span.from_ns ? before_ns : span.from_ns;
      const summary = reading.summary!;
      const gaps = summary.gapsIn({ from_ns, to_ns: payload_ns });
      yield { window, payload_ns, gaps, final: summary.isLast(window.to_ns) };
    }
  }

  /** All runs, the newest first. Files of another format are left out. */
  async #summaries(): Promise<Required<Reading>[]> {
    const runs: Required<Reading>[] = [];
    for (const id of await listRuns(this.#directory)) {
      const reading: Reading = { id };
      try {
        for await (const _ of this.#scan(reading));
      } catch (error) {
        if (!(error instanceof UnknownFormatError)) throw error;
      }
      if (reading.summary) runs.push({ ...reading, summary: reading.summary });
    }
    return runs.sort((a, b) =>
      Number(b.summary.start_ns - a.summary.start_ns) || (a.id < b.id ? 1 : -1)
    );
  }

  async *#scan(reading: Reading): AsyncGenerator<ScannedWindow> {
    using file = await openRun(this.#directory, reading.id);
    if (!file) return;
    for await (const window of scanWindows(chunksOf(file))) {
      reading.summary ??= new RunSummary(window.block.instance);
      reading.summary.add(window.head);
      yield window;
    }
  }
}
