/** Reads of facts: those of many instances, one after the other, so that only one is in memory whole. */

import { type Interval, overlap } from "../gaps.ts";
import type { Instance } from "../payload.ts";
import type { SignalsReader } from "../reader.ts";
import { later, nsFromTs, SECOND_NS } from "../time.ts";
import { yieldToEventLoop } from "../yield.ts";
import { instanceFacts } from "./instance.ts";
import type { InstanceFacts } from "./instance_facts.ts";
import { stepLength } from "./step_length.ts";

/** Shortest step: windows that are uploaded are as long, or longer. */
const FINEST_NS = 10n * SECOND_NS;

/** Steps of all instances together, about; each instance has at least so many. */
const [ALL_STEPS, LEAST_STEPS] = [3_000, 6];

/**
 * The facts of each of `instances` in their order; those without a window in the span are left out. The
 * span is read once, in steps. Other work runs between two instances.
 */
export async function* readFacts(
  reader: Pick<SignalsReader, "steps">,
  instances: readonly Instance[],
  span: Interval,
): AsyncGenerator<InstanceFacts> {
  const most = Math.max(LEAST_STEPS, Math.floor(ALL_STEPS / instances.length));
  for (const instance of instances) {
    const life = overlap(span, lifeOf(instance));
    const step_ns = stepLength(life, later(FINEST_NS, (life.to_ns - life.from_ns) / BigInt(most)));
    const id = instance.instance_id;
    const steps = await Array.fromAsync(reader.steps(id, { ...span, step_ns }, {}));
    if (steps.length > 0) {
      const is_running = !steps.at(-1)!.final;
      yield instanceFacts({ instance, asked: span, steps, is_running });
    }
    await yieldToEventLoop();
  }
}

/** The time in which an instance ran. */
function lifeOf({ first_seen_ts, last_seen_ts }: Instance): Interval {
  return { from_ns: nsFromTs(first_seen_ts), to_ns: nsFromTs(last_seen_ts + 1) };
}
