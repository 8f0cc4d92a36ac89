/** Instances that differ in one tag or option, and in their speed. */

import type { EngineFacts, InstanceFacts } from "../facts/mod.ts";
import { named } from "../quoted.ts";
import { metricOf } from "./engine_evidence.ts";
import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import { digits, mean } from "./measures.ts";
import type { FleetRule } from "./rule.ts";

/** A smaller difference may be one of load. */
const LEAST_DIFFERENCE = 0.15;

/** Requests worked on, as a multiple, up to which load is the same. */
const SAME_LOAD = 1.2;

/** What differs between instances by itself. */
const OWN =
  /^(?:instance\.id|host\.name|process\.pid|--(?:port|host|node[-_]rank|rank|master[-_]\w+|rdzv[-_]\w+|seed))$/;

/** The rule. */
export const hostsDiffer: FleetRule = {
  id: "differ",
  judge(all): Judgement {
    const measured = all.flatMap((facts) => {
      const [engine] = facts.engines;
      const seconds = engine?.between_tokens?.mean_seconds;
      return engine && seconds ? [{ facts, engine, seconds, settings: settingsOf(facts) }] : [];
    });
    const keys = [...new Set(measured.flatMap(({ settings }) => [...settings.keys()]))];
    const differing = keys.filter((key) =>
      new Set(measured.map(({ settings }) => settings.get(key))).size > 1
    );
    // A tag that only names an option's value differs with it: two names of one difference.
    const splits = differing.map((key) =>
      Map.groupBy(measured, ({ settings }) => settings.get(key))
    );
    const [split] = splits;
    if (!split || split.size !== 2 || !splits.every((other) => isSame(split, other))) {
      return NOTHING;
    }
    const [a, b] = [...split.values()];
    const [slow, fast] = [a!, b!].sort((x, y) => speed(y) - speed(x));
    const lost = 1 - speed(fast!) / speed(slow!);
    // A larger batch takes longer for each token: then the load differs, not the setting.
    if (lost < LEAST_DIFFERENCE || load(slow!) > SAME_LOAD * load(fast!)) return NOTHING;
    return { ...NOTHING, findings: [finding(differing, { slow: slow!, fast: fast!, lost })] };
  },
};

interface Measured {
  facts: InstanceFacts;
  engine: EngineFacts;
  seconds: number;
  settings: Map<string, string>;
}

function settingsOf({ instance, workload }: InstanceFacts): Map<string, string> {
  const all = [
    ...Object.entries(instance.tags),
    ...workload.flags.map(([name, value]) => [name, value ?? "given"] as const),
  ];
  return new Map(all.filter(([name]) => !OWN.test(name)));
}

function speed(group: readonly Measured[]): number {
  return mean(group.map(({ seconds }) => seconds));
}

function load(group: readonly Measured[]): number {
  return mean(group.map(({ engine }) => engine.running?.mean ?? 0));
}

/** Whether two groupings put the same instances together. */
function isSame(a: Map<unknown, Measured[]>, b: Map<unknown, Measured[]>): boolean {
  const groups = (split: Map<unknown, Measured[]>) =>
    [...split.values()].map((group) => group.map(({ facts }) => facts.instance.instance_id).join())
      .sort().join("\n");
  return groups(a) === groups(b);
}

function finding(
  keys: readonly string[],
  { slow, fast, lost }: { slow: readonly Measured[]; fast: readonly Measured[]; lost: number },
): Finding {
  const valued = (group: readonly Measured[]) =>
    keys.map((key) => {
      const value = group[0]!.settings.get(key);
      return value === undefined
        ? `${named(key, 60)} (not given)`
        : `${named(key, 60)}=${named(value, 60)}`;
    }).join(", ");
  const evidence = (group: readonly Measured[]) => ({
    metric: metricOf(group[0]!.engine, "between_tokens"),
    tags: {},
    value: 1000 * speed(group),
    unit: "ms",
    what: `time between tokens where ${valued(group)}, mean of ${group.length}`,
  });
  const running = (group: readonly Measured[]) => ({
    metric: metricOf(group[0]!.engine, "running"),
    tags: {},
    value: load(group),
    unit: "requests",
    what: `requests worked on where ${valued(group)}, mean`,
  });
  return {
    id: "differ",
    class: "change",
    title: `Instances differ in ${keys.map((key) => named(key, 60)).join(" and ")}: with ${
      valued(slow)
    } tokens come every ${digits(1000 * speed(slow))} ms, with ${valued(fast)} every ${
      digits(1000 * speed(fast))
    } ms`,
    share_at_stake: lost * slow.length / (slow.length + fast.length),
    confidence: "low",
    doubt: "load and hosts of the instances may differ too",
    evidence: [evidence(slow), evidence(fast), running(slow), running(fast)],
    remedies: [`the setting of the faster ones: ${valued(fast)}`],
    verify: "the same load on both, one after the other on the same host",
    where: `${slow.length} of ${slow.length + fast.length} instances`,
    explains: [],
  };
}
