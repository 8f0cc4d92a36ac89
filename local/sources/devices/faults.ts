/** Faults of polling: calls that hang and devices without values, told when they begin and when they end. */

import type { Recorder } from "../recorder.ts";
import type { SegmentCall } from "../segments/segment.ts";
import type { Poller } from "./poller.ts";

/** A call that takes longer may hang. */
const LONG_NS = 1_000_000_000n;

/** A call that takes longer hangs. */
const HANGING_NS = 5_000_000_000n;

/** The faults of all pollers. */
export class PollingFaults {
  /** The hanging call of a poller that was told. */
  readonly #hanging = new Map<Poller, SegmentCall>();
  #measured: ReadonlySet<string> = new Set();
  readonly #lost = new Set<string>();

  /** Tells what has changed; `measured` are the devices with values, by uuid. */
  tell(recorder: Recorder, pollers: readonly Poller[], measured: ReadonlySet<string>): void {
    for (const poller of pollers) this.#tellCall(recorder, poller);
    const back = this.#lost.intersection(measured);
    for (const uuid of back) this.#lost.delete(uuid);
    if (back.size > 0) recorder.warn(`values again of ${[...back].join(", ")}`);
    const missing = [...this.#measured.difference(measured)];
    // If it lasts, the call is what there is to tell.
    if (pollers.some((poller) => takenBy(recorder, callOf(poller)) >= LONG_NS)) {
      this.#measured = new Set([...missing, ...measured]);
      return;
    }
    this.#measured = measured;
    for (const uuid of missing) this.#lost.add(uuid);
    const told = missing.map((uuid) => `${uuid}${reasonOf(pollers, uuid)}`);
    if (told.length > 0) recorder.warn(`no values any more of ${told.join(", ")}`);
  }

  #tellCall(recorder: Recorder, poller: Poller): void {
    const call = callOf(poller);
    const told = this.#hanging.get(poller);
    if (told && told.began_ns !== call?.began_ns) {
      this.#hanging.delete(poller);
      if (poller.alive) recorder.warn(`the driver's call ${told.name} has returned`);
    }
    if (!call || this.#hanging.has(poller)) return;
    const taken_ns = takenBy(recorder, call);
    if (taken_ns < HANGING_NS) return;
    this.#hanging.set(poller, call);
    recorder.warn(
      `the driver's call ${call.name} has not returned for ${taken_ns / 1_000_000_000n} s; ` +
        "devices have no values until it does",
    );
  }
}

/** The call that a living poller is in. */
function callOf({ alive, segment }: Poller): SegmentCall | null {
  return alive ? segment.call : null;
}

function takenBy(recorder: Recorder, call: SegmentCall | null): bigint {
  return call ? recorder.now_ns - call.began_ns : 0n;
}

function reasonOf(pollers: readonly Poller[], uuid: string): string {
  const reasons = pollers.flatMap((poller) => poller.holding(uuid, "lost"))
    .map(({ reason = "" }) => ` (${reason})`);
  return reasons[0] ?? "";
}
