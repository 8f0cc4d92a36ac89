/** A poller of devices: one run's segment, with the series of each device that it has polled. */

import type { Tags } from "@service/core";
import type { Sum } from "@service/core/sum";
import type { Segment } from "../segments/segment.ts";
import type { SegmentSeries } from "../segments/tables.ts";
import { CellValues } from "../segments/values.ts";

/** The key of the tag that identifies a device. */
export const UUID = "device.uuid";

/** Series of a device that are no metrics. */
const FACTS = ["device", "listed", "lost", "polled", "unsupported", "xid"] as const;

/** What a poller says of a device, beside its metrics. */
export type Fact = typeof FACTS[number];

/** The place of a segment in this run. */
export interface PollerOptions {
  /** Whether it is this run's own: it lists the devices that this run may ask for. */
  own: boolean;
  /** Whether it was there before this run: then only its increases from now on count. */
  earlier: boolean;
}

/** The segment of one poller. */
export class Poller {
  readonly segment: Segment;
  readonly own: boolean;
  /** Whether its process was alive at the last reading. */
  alive = true;
  readonly #values = new CellValues();
  readonly #devices = new Map<string, SegmentSeries[]>();
  #grouped = 0;
  #baseDue: boolean;

  /** The poller that writes `segment`, not read yet. */
  constructor(segment: Segment, { own, earlier }: PollerOptions) {
    this.segment = segment;
    this.own = own;
    this.#baseDue = earlier;
  }

  /**
   * Reads the segment as it is now.
   *
   * @throws {SegmentRefusal} If no writer could have left it so.
   */
  read(): void {
    // Before the reading: a process that has ended by then has written everything.
    this.alive = this.segment.file.isAlive();
    const reading = this.segment.read(!this.alive);
    if (!reading) return;
    this.#values.update(reading.words);
    this.#group();
    if (this.#baseDue) this.#values.markRecorded();
    this.#baseDue = false;
  }

  /** Counts further increases from the last reading on. */
  markRecorded(): void {
    this.#values.markRecorded();
  }

  /** Uuids of all devices that it has had. */
  get uuids(): Iterable<string> {
    return this.#devices.keys();
  }

  /** Whether it has polled a device, ever. */
  has(uuid: string): boolean {
    return this.facts(uuid, "polled").length > 0;
  }

  /** The series of a device's metrics. */
  metrics(uuid: string): SegmentSeries[] {
    const facts: readonly string[] = FACTS;
    return this.#series(uuid).filter(({ name }) => !facts.includes(name));
  }

  /** The series of a device's facts of one kind. */
  facts(uuid: string, fact: Fact): SegmentSeries[] {
    return this.#series(uuid).filter(({ name }) => name === fact);
  }

  /** Tags of a device's facts of one kind that hold now. */
  holding(uuid: string, fact: Fact): Tags[] {
    return this.facts(uuid, fact).filter((series) => this.value(series) !== null)
      .map(({ tags }) => tags);
  }

  /** Time of the device's last complete poll, epoch nanoseconds; `null` before the first. */
  polled_ns(uuid: string): number | null {
    const [polled] = this.facts(uuid, "polled");
    return polled ? this.value(polled) : null;
  }

  /** The value of a gauge; `null` if it is not measured now. */
  value({ cells: [cell] }: SegmentSeries): number | null {
    return cell ? this.#values.quotient(cell.at) : null;
  }

  /**
   * The increase of a counter since the last recording.
   *
   * @throws {SegmentRefusal} If it fell.
   */
  increase({ cells: [cell] }: SegmentSeries): Sum {
    return cell ? this.#values.increaseOfQuotient(cell.at) : 0;
  }

  #series(uuid: string): readonly SegmentSeries[] {
    return this.#devices.get(uuid) ?? [];
  }

  #group(): void {
    const { series } = this.segment;
    for (const added of series.slice(this.#grouped)) {
      const uuid = added.tags[UUID];
      if (uuid === undefined) continue;
      const same = this.#devices.get(uuid);
      if (same) same.push(added);
      else this.#devices.set(uuid, [added]);
    }
    this.#grouped = series.length;
  }
}
