/**
 * Stragglers between hosts: the instance that makes the others of its job wait in collectives. It has the
 * short ones, and its own kernels take longer.
 */

import type { InstanceFacts } from "../facts/mod.ts";
import { named } from "../quoted.ts";
import type { Finding, Judgement } from "./finding.ts";
import { NOTHING } from "./finding.ts";
import {
  categorySeconds,
  digits,
  mean,
  percent,
  type WorkedDevice,
  workedDevices,
} from "./measures.ts";
import type { FleetRule } from "./rule.ts";
import { heldBy, LATE, rankOf, sameKernels, slowRank } from "./straggler.ts";
import { clockEvidence, throttledBy } from "./throttling.ts";

/** Instances of one job launch their collectives equally often, up to this much. */
const SAME_JOB = 0.1;

/** Kernels that take this much longer are slow; below it there are more of them. */
const SLOW_FACTOR = 1.05;

interface Host {
  facts: InstanceFacts;
  label: string;
  devices: WorkedDevice[];
}

/** The rule. */
export const hostsStraggler: FleetRule = {
  id: "hosts",
  judge(all): Judgement {
    const hosts = all.map((facts): Host => ({
      facts,
      label: facts.instance.tags["host.name"] ?? facts.instance.instance_id,
      devices: workedDevices(facts).filter((device) => categorySeconds(device, "collective") > 0),
    })).filter(({ devices }) => devices.length > 0);
    if (hosts.length < 2 || !isOneJob(hosts)) return NOTHING;
    const found = slowRank(hosts.map((host) => {
      const ranks = host.devices.map(rankOf);
      return {
        of: host,
        collective: mean(ranks.map(({ collective }) => collective)),
        own: mean(ranks.map(({ own }) => own)),
        idle: mean(ranks.map(({ idle }) => idle)),
        copies: mean(ranks.map(({ copies }) => copies)),
      };
    }));
    return found ? { ...NOTHING, findings: [finding(found, hosts)] } : NOTHING;
  },
};

/** Whether all instances launch as many collectives a second: what one job does, and replicas hardly do. */
function isOneJob(hosts: readonly Host[]): boolean {
  const rates = hosts.map(({ devices }) =>
    mean(
      devices.map(({ activity }) =>
        activity.kernels.filter(({ category }) => category === "collective")
          .reduce((sum, { times }) => sum + times, 0) / activity.captured_seconds
      ),
    )
  );
  return Math.max(...rates) <= (1 + SAME_JOB) * Math.min(...rates);
}

function finding(
  { slow, usual, waited }: NonNullable<ReturnType<typeof slowRank<Host>>>,
  hosts: readonly Host[],
): Finding {
  const { devices } = slow.of;
  const label = named(slow.of.label, 80);
  const others = hosts.filter((host) => host !== slow.of);
  const elsewhere = others.flatMap((host) => host.devices);
  const factor = sameKernels(devices[0]!, elsewhere);
  const throttled = devices.map((device) => throttledBy(device)).find((one) => one !== null) ??
    null;
  const isOnly = throttled !== null &&
    elsewhere.every((other) => throttledBy(other)?.cause !== throttled.cause);
  const held = heldBy({ slow, usual, waited });
  const hasMore = held === null && factor !== null && factor < SLOW_FACTOR;
  const why = held === "idle"
    ? `its devices are idle ${
      percent(slow.idle)
    } of the time: its processes are late, see what the host does`
    : held === "copies"
    ? `its copies take ${percent(slow.copies)} of the time, where ${
      percent(usual.copies)
    } is usual: see its links`
    : isOnly
    ? `its devices' clocks are held down by ${named(throttled.reason)}`
    : hasMore
    ? "its kernels are as fast as elsewhere, so it has more work"
    : "its kernels take longer, and clocks and throttle reasons do not say why";
  return {
    id: hasMore && !isOnly ? "hosts/uneven_work" : "hosts/straggler",
    class: "collective",
    title:
      `Straggler: host ${label} is slow, and ${others.length} other instances wait for it in collectives ${
        percent(waited)
      } of the time; ${why}`,
    share_at_stake: waited,
    confidence: isOnly ? "high" : "medium",
    doubt: isOnly
      ? ""
      : "heat, power, processors and neighbours of that host are to be looked at one by one",
    evidence: [
      {
        metric: `${devices[0]!.activity.source}_kernels_nanoseconds`,
        tags: { "host.name": slow.of.label },
        value: 100 * slow.collective,
        unit: "%",
        what: `time in collectives on ${label}, mean of its devices`,
      },
      {
        metric: `${devices[0]!.activity.source}_kernels_nanoseconds`,
        tags: {},
        value: 100 * usual.collective,
        unit: "%",
        what: "time in collectives, median of all instances",
      },
      {
        metric: `${devices[0]!.activity.source}_kernels_nanoseconds`,
        tags: { "host.name": slow.of.label },
        value: slow.own / usual.own,
        unit: "times",
        what: "its time in other kernels, as a multiple of the median",
      },
      ...(factor === null ? [] : [{
        metric: `${devices[0]!.activity.source}_kernels_nanoseconds`,
        tags: { "host.name": slow.of.label },
        value: factor,
        unit: "times",
        what: "mean length of its kernels, as a multiple of the others'",
      }]),
      ...clockEvidence(devices[0]!),
    ].slice(0, 6),
    remedies: hasMore && !isOnly
      ? ["balance the work between ranks: sequence lengths, experts, layers of a pipeline stage"]
      : [
        `take host ${label} out of the job, or exchange it: the job goes at the pace of its slowest host`,
        `compare clocks, throttle reasons, links, processors and neighbours of ${label} with the others'`,
      ],
    verify: `without ${label} collectives take the same time on all of the ${
      digits(others.length)
    } others, and steps are shorter by the waiting`,
    where: `host ${label}`,
    explains: [
      "collectives/exposed",
      ...(held === "idle" ? LATE : []),
      ...(isOnly ? [`throttling/${throttled.cause}`, "throttling/hardware"] : []),
    ],
  };
}
