/** The reader of a project: its instances and their windows, from the tables. */

import type {
  InstancePage,
  InstanceSelection,
  InstanceWindow,
  Interval,
  Selection,
  SignalsReader,
  SteppedSpan,
} from "@service/core";
import { damageWarningOf } from "@service/core/gaps";
import type { Block } from "@service/core/packed";
import { refuse } from "@service/core/problem";
import { expectStep, unknownAfter } from "@service/core/reader";
import { metricMatcher, selectIn } from "@service/core/selection";
import { earlier, later } from "@service/core/time";
import type { Database } from "../database/database.ts";
import type { Blocks } from "./blocks.ts";
import { findInstance, type FoundInstance, listed, type StoredInstance } from "./instance.ts";
import { findToRead } from "./passed.ts";
import { readSpans, type SpanRead, type SpanToRead, spanToRead } from "./read.ts";
import { retainedFrom } from "./retention.ts";
import { selectInstances } from "./selection.ts";

/** The tables of one project, and what decides how far they reach. */
export interface ReaderOptions {
  db: Database;
  project: { id: bigint; name: string };
  /** The blocks in memory. */
  blocks: Blocks;
  now_ns: bigint;
  retention_days: number;
}

/** What was measured of one instance, and the instance as it is stored. */
export interface StoredWindow extends InstanceWindow {
  stored: StoredInstance;
  /** A block that has most of its identities, and others if not all metrics were selected. */
  block: Block | undefined;
  final: boolean;
}

/** Instances that are looked up in one round trip. */
const IDS_AT_ONCE = 100;

/** Most steps of one read. */
export const MAX_STEPS = 10_000;

/** Reads the windows of a project; what is older than the retention is left out. */
export class StorageReader implements SignalsReader {
  readonly #options: ReaderOptions;

  /** Of the tables of a project, as of one instant. */
  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  async instances(
    { tags }: InstanceSelection,
    { from_ns, to_ns }: Interval,
    { limit, after }: InstancePage,
  ) {
    const { db, project } = this.#options;
    const last = after === undefined ? undefined : await findInstance(db, project, after);
    if (last === null) throw unknownAfter(after!);
    const { instances } = await selectInstances(db, {
      project,
      start_ns: from_ns,
      end_ns: to_ns,
      tags,
      limit,
      after: last,
    });
    return instances.map(listed);
  }

  async *windows(
    ids: readonly string[],
    span: Interval,
    selection: Selection,
  ): AsyncGenerator<StoredWindow> {
    const { db, project, now_ns } = this.#options;
    const each = [...new Set(ids)];
    for (let at = 0; at < each.length; at += IDS_AT_ONCE) {
      const asked = each.slice(at, at + IDS_AT_ONCE);
      const found = await findToRead(db, project, { ids: asked, now_ns });
      const spans = asked.flatMap((id) => found.get(id) ?? [])
        .map((instance) => this.#spanOf(instance, span));
      for await (const read of readSpans(db, spans, this.#reading(selection))) {
        yield storedWindow(read, selection);
      }
    }
  }

  async *steps(
    id: string,
    { step_ns, ...span }: SteppedSpan,
    selection: Selection,
  ): AsyncGenerator<StoredWindow> {
    expectStep(step_ns);
    const { db, project, now_ns } = this.#options;
    const instance = (await findToRead(db, project, { ids: [id], now_ns })).get(id);
    if (!instance) return;
    const spans = stepsOf(this.#spanOf(instance, span), step_ns);
    for await (const read of readSpans(db, spans, this.#reading(selection))) {
      if (!read.isEmpty) yield storedWindow(read, selection);
    }
  }

  #reading({ metrics }: Selection) {
    const { project, blocks } = this.#options;
    return { project: project.id, blocks, wanted: metrics && metricMatcher(metrics) };
  }

  #spanOf(instance: FoundInstance, { from_ns, to_ns }: Interval): SpanToRead {
    const { now_ns, retention_days } = this.#options;
    const retained_ns = retainedFrom(now_ns, retention_days);
    const start_ns = later(from_ns, retained_ns);
    const end_ns = later(to_ns, start_ns);
    return spanToRead(instance, { start_ns, end_ns, now_ns });
  }
}

/**
 * The steps of a span in which the instance ran.
 *
 * @throws {Refusal} 400 if there are too many.
 */
function stepsOf({ instance, span, said }: SpanToRead, step_ns: bigint): SpanToRead[] {
  const { payload_ns } = span;
  const end_ns = earlier(payload_ns, instance.last_seen_ns);
  let start_ns = later(span.start_ns, instance.start_ns);
  if ((end_ns - start_ns) / step_ns > MAX_STEPS) {
    const message = `must give at most ${MAX_STEPS} steps in the span`;
    throw refuse(400, `Cannot read steps: step ${message}`, [{ parameter: "step", message }]);
  }
  const steps: SpanToRead[] = [];
  while (start_ns < end_ns) {
    const to_ns = earlier((start_ns / step_ns + 1n) * step_ns, payload_ns);
    steps.push({ instance, span: { start_ns, payload_ns: to_ns }, said: [] });
    start_ns = to_ns;
  }
  steps.at(-1)?.said.push(...said);
  return steps;
}

function storedWindow(
  { instance, span, said, window, block, gaps, damaged }: SpanRead,
  selection: Selection,
): StoredWindow {
  selectIn(window, selection);
  const { payload_ns } = span;
  if (damaged.length > 0) window.errors.push(damageWarningOf(damaged, payload_ns));
  window.errors.push(...said);
  const final = window.to_ns === instance.final_ns;
  return { instance: listed(instance), window, payload_ns, gaps, final, stored: instance, block };
}
