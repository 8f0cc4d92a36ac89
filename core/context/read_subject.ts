/** Reads of subjects: instances that match, their facts one by one, and what was found of them. */

import { type InstanceFacts, readFacts } from "../facts/mod.ts";
import { findings, type InstanceJudgement, judge } from "../findings/mod.ts";
import type { Interval } from "../gaps.ts";
import type { Instance } from "../payload.ts";
import type { SignalsReader } from "../reader.ts";
import type { Tags } from "../tags.ts";
import { nsFromTs } from "../time.ts";
import { reduced } from "./reduced.ts";
import type { Subject } from "./subject.ts";

/** Most instances that are read for one text. */
export const MAX_INSTANCES = 1_000;

/** Instances whose facts are kept whole; of others the text has sums. */
const WHOLE = 20;

/** What to read. */
export interface SubjectQuery extends Pick<Subject, "tags" | "base_url"> {
  /** The span. */
  span: Interval;
}

/** What is known of the instances of a project that match. */
export async function readSubject(reader: SignalsReader, query: SubjectQuery): Promise<Subject> {
  const { span, tags, base_url } = query;
  const { matched, longest } = await matching(reader, query);
  const instances: InstanceFacts[] = [];
  const judged: InstanceJudgement[] = [];
  for await (const facts of readFacts(reader, longest, span)) {
    judged.push(judge(facts));
    instances.push(instances.length < WHOLE ? facts : reduced(facts));
  }
  return {
    instances,
    findings: findings(instances, judged),
    asked: span,
    // Some ran, and have no window that ends in the span.
    matched: matched - longest.length + instances.length,
    tags,
    available_tags: await availableTags(reader, span),
    base_url,
    is_local: false,
  };
}

/** The instances that match: how many there are, and those that ran longest in the span, in that order. */
async function matching(
  reader: SignalsReader,
  { span, tags }: SubjectQuery,
): Promise<{ matched: number; longest: Instance[] }> {
  let matched = 0;
  let longest: Instance[] = [];
  for await (const page of pagesOf(reader, { span, tags })) {
    matched += page.length;
    longest = [...longest, ...page].sort((a, b) => secondsIn(b, span) - secondsIn(a, span))
      .slice(0, MAX_INSTANCES);
  }
  return { matched, longest };
}

async function* pagesOf(
  reader: SignalsReader,
  { span, tags }: { span: Interval; tags: Tags },
): AsyncGenerator<Instance[]> {
  let after: string | undefined;
  do {
    const page = await reader.instances({ tags }, span, { limit: MAX_INSTANCES, after });
    yield page;
    after = page.length === MAX_INSTANCES ? page.at(-1)!.instance_id : undefined;
  } while (after !== undefined);
}

/** Seconds of a span in which an instance ran. */
function secondsIn(
  { first_seen_ts, last_seen_ts }: Instance,
  { from_ns, to_ns }: Interval,
): number {
  const first = Math.max(Number(nsFromTs(first_seen_ts)), Number(from_ns));
  return Math.min(Number(nsFromTs(last_seen_ts)), Number(to_ns)) - first;
}

/** Instances whose tags are listed, the newest. */
const TAGGED = 200;
/** Names and values of tags that are listed. */
const NAMES = 40;
const VALUES = 10;

/** Tags of the newest instances in the span, by name, with their newest values first. */
async function availableTags(
  reader: SignalsReader,
  span: Interval,
): Promise<Map<string, string[]>> {
  const available = new Map<string, string[]>();
  for (const { tags } of await reader.instances({}, span, { limit: TAGGED })) {
    for (const [name, value] of Object.entries(tags)) {
      const values = available.get(name);
      if (!values) {
        if (available.size < NAMES) available.set(name, [value]);
      } else if (values.length < VALUES && !values.includes(value)) values.push(value);
    }
  }
  return available;
}
