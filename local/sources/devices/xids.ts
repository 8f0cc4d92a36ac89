/** XID events: the driver's reports of faults, told in `errors` with their meaning. */

import type { Tags } from "@service/core";
import { SECOND_NS } from "@service/core/time";
import { describeXid } from "@service/core/names";
import type { Recorder } from "../recorder.ts";

/** Shortest time between two entries for one XID of one device: thousands may come in a second. */
const QUIET_NS = 60n * SECOND_NS;

interface Told {
  told_ns: bigint;
  /** Events since then. */
  events: number;
}

/** The XID events of all devices. */
export class XidEvents {
  readonly #told = new Map<string, Told>();

  /** Adds events with the tags `device.uuid`, `device.bus_id` and `xid`; 0 tells earlier ones that are due. */
  add(recorder: Recorder, tags: Tags, events: number): void {
    const { xid = "", "device.uuid": uuid = "" } = tags;
    const key = `${uuid} ${xid}`;
    const told = this.#told.get(key);
    const all = events + (told?.events ?? 0);
    if (all === 0) return;
    if (told && recorder.now_ns - told.told_ns < QUIET_NS) {
      told.events = all;
      return;
    }
    this.#told.set(key, { told_ns: recorder.now_ns, events: 0 });
    const { level, meaning, act } = describeXid(Number(xid));
    const times = all === 1 ? "" : ` (${all} times)`;
    recorder.error({
      level,
      message: `XID ${xid} on ${uuid}${times}: ${meaning}. ${act}`,
      exception: "",
      tags,
    });
  }
}
