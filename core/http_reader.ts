/**
 * The reader over HTTP: reads the live run at its local endpoint, or a project's runs at the hosted API,
 * window by window as the answer arrives.
 */

import type { Interval } from "./gaps.ts";
import {
  HttpSource,
  type HttpSourceOptions,
  type Query,
  type SelectedSpan,
  spanQuery,
} from "./http_source.ts";
import { decode } from "./json.ts";
import { open } from "./open_schema.ts";
import type { Instance } from "./payload.ts";
import { instanceList } from "./payload_schema.ts";
import {
  expectStep,
  type InstancePage,
  type InstanceSelection,
  type InstanceWindow,
  type SignalsReader,
  type SteppedSpan,
  unknownAfter,
} from "./reader.ts";
import type { Selection } from "./selection.ts";
import { formatTags, hasTags } from "./tags.ts";
import { secondsFromNs, tsFromNs } from "./time.ts";

export type { HttpSourceOptions };

/**
 * The reader of the runs at a URL. An answer that is refused is a {@linkcode Refusal}, and one that is
 * cut or damaged an error too: what a read has given until then is right, and not all.
 */
export function httpReader(options: HttpSourceOptions): SignalsReader {
  const source = new HttpSource(options);
  return options.key === undefined ? new LocalReader(source) : new HostedReader(source);
}

/** Ids in one request: their URL is shorter than any server's limit. */
const IDS_AT_ONCE = 200;

/** The hosted API: the runs of the key's project. */
class HostedReader implements SignalsReader {
  readonly #source: HttpSource;

  constructor(source: HttpSource) {
    this.#source = source;
  }

  async instances(
    { tags = {} }: InstanceSelection,
    span: Interval,
    { limit, after }: InstancePage,
  ): Promise<Instance[]> {
    const response = await this.#source.get("/api/v1/instances", {
      ...spanQuery(span),
      tags: formatTags(tags),
      limit: String(limit),
      after,
    });
    return open(instanceList).check(decode(await response.text())).instances;
  }

  async *windows(
    ids: readonly string[],
    span: Interval,
    selection: Selection,
  ): AsyncGenerator<InstanceWindow> {
    const each = [...new Set(ids)];
    for (let at = 0; at < each.length; at += IDS_AT_ONCE) {
      const instance_id = each.slice(at, at + IDS_AT_ONCE).join();
      yield* this.#source.windows("/api/v1/windows", { instance_id }, { span, selection });
    }
  }

  async *steps(
    id: string,
    { step_ns, ...span }: SteppedSpan,
    selection: Selection,
  ): AsyncGenerator<InstanceWindow> {
    expectStep(step_ns);
    const query = { instance_id: id, step: secondsFromNs(step_ns) };
    yield* this.#source.windows("/api/v1/windows", query, { span, selection });
  }
}

/** The local endpoint: the live run alone. */
class LocalReader implements SignalsReader {
  readonly #source: HttpSource;

  constructor(source: HttpSource) {
    this.#source = source;
  }

  async instances(
    { tags = {} }: InstanceSelection,
    span: Interval,
    { after }: InstancePage,
  ): Promise<Instance[]> {
    // Its window says which run it is; of the measurements the smallest will do.
    const selection = { metrics: ["profiler_covered_nanoseconds"] };
    for await (const { instance } of this.#windows({}, { span, selection })) {
      if (after === instance.instance_id) return [];
      if (after !== undefined) throw unknownAfter(after);
      const ran = instance.first_seen_ts <= tsFromNs(span.to_ns) &&
        instance.last_seen_ts >= tsFromNs(span.from_ns);
      return ran && hasTags(instance.tags, tags) ? [instance] : [];
    }
    return [];
  }

  async *windows(
    ids: readonly string[],
    span: Interval,
    selection: Selection,
  ): AsyncGenerator<InstanceWindow> {
    if (ids.length === 0) return;
    for await (const read of this.#windows({}, { span, selection })) {
      if (ids.includes(read.instance.instance_id)) yield read;
    }
  }

  async *steps(
    id: string,
    { step_ns, ...span }: SteppedSpan,
    selection: Selection,
  ): AsyncGenerator<InstanceWindow> {
    expectStep(step_ns);
    const query = { step: secondsFromNs(step_ns) };
    for await (const step of this.#windows(query, { span, selection })) {
      if (step.instance.instance_id !== id) return;
      yield step;
    }
  }

  #windows(query: Query, what: SelectedSpan): AsyncGenerator<InstanceWindow> {
    return this.#source.windows("/signals/windows", query, what);
  }
}
