/** Open minutes: their windows, merged on arrival. */

import { absorbOwned, type Window } from "@service/core";
import { noEntries } from "@service/core/entries";
import { Lru } from "@service/core/lru";
import { type Block, WindowWriter } from "@service/core/packed";
import { type Statement, statement } from "../database/database.ts";
import type { InstanceName } from "./blocks.ts";
import { FINEST, spanEnd, spanNs } from "./levels.ts";
import { deflated } from "./stored_frame.ts";

/** Series and frames that all open minutes may have together: some 50 MB. */
const MAX_WEIGHT = 200_000;

/** The roll-up of a minute, as it is stored. */
export interface PackedMinute {
  end_ns: bigint;
  from_ns: bigint;
  to_ns: bigint;
  /** Its packed window, as a row has it. */
  body: Uint8Array<ArrayBuffer>;
  /** Hash of the block that it names. */
  hash: Uint8Array<ArrayBuffer>;
  /** Digests of its windows, which identify them by content. */
  digests: string;
}

interface OpenMinute {
  end_ns: bigint;
  merged: Window;
  digests: string[];
}

/** A window that is about to be stored. */
export interface ClosingWindow {
  name: InstanceName;
  /** The block that it names; roll-ups that end with it name the same one. */
  block: Block;
  window: Window;
  digest: Uint8Array;
}

/**
 * Merges the windows of minutes that are not over, so that they need not be read when the minute ends.
 * A merge may lack windows that another process got: it is stored only if its windows are the stored
 * ones, and is made from the stored ones otherwise.
 */
export class OpenMinutes {
  readonly #open = new Lru<string, OpenMinute>({
    max: MAX_WEIGHT,
    weigh: ({ merged }) => weightOf(merged),
  });
  readonly #writer = new WindowWriter();

  /** The minutes that end with a window, which is about to be stored and belongs to this from now on. */
  closeWith(closing: ClosingWindow): PackedMinute[] {
    const { block } = closing;
    return this.#closed(closing).map(({ end_ns, merged, digests }) => ({
      end_ns,
      from_ns: merged.from_ns,
      to_ns: merged.to_ns,
      body: deflated(this.#writer.write({ window: merged, block }).frame),
      hash: Uint8Array.fromHex(block.hash),
      digests: digests.join(),
    }));
  }

  #closed({ name, window, digest }: ClosingWindow): OpenMinute[] {
    const key = `${name.project} ${name.instance_id}`;
    const closed: OpenMinute[] = [];
    const { from_ns, to_ns } = window;
    const values = { ...window, ...noEntries() };
    const end_ns = spanEnd(to_ns, FINEST);
    // As SQLite writes it.
    const digestText = digest.toHex().toUpperCase();
    let open = this.#open.get(key);
    this.#open.delete(key);
    if (open?.merged.to_ns !== from_ns) open = undefined;
    if (open && open.end_ns !== end_ns) {
      closed.push(open);
      open = undefined;
    }
    if (open) {
      absorbOwned(open.merged, values);
      open.digests.push(digestText);
    } else if (from_ns <= end_ns - spanNs(FINEST)) {
      open = { end_ns, merged: values, digests: [digestText] };
    }
    if (open?.end_ns === to_ns) closed.push(open);
    else if (open) this.#open.set(key, open);
    return closed;
  }
}

/** The statement that stores the roll-up of a minute, if its windows are the stored ones. */
export function storingMinute(
  minute: PackedMinute,
  { project, instance_id }: InstanceName,
): Statement {
  const after_ns = minute.end_ns - spanNs(FINEST);
  return statement(INSERT_MINUTE, { ...minute, project, instance_id, after_ns });
}

const INSERT_MINUTE = `INSERT INTO windows
    (instance, level, end_ns, from_ns, to_ns, block, body)
  SELECT i.id, ${FINEST}, :end_ns, :from_ns, :to_ns, b.id, :body FROM instances i
  JOIN blocks b ON b.instance = i.id AND b.hash = :hash
  WHERE project = :project AND instance_id = :instance_id AND watermark_ns >= :to_ns
    AND :digests = (SELECT group_concat(hex(digest)) FROM (
      SELECT digest FROM windows WHERE instance = i.id AND level = 0
        AND end_ns > :after_ns AND end_ns <= :end_ns ORDER BY end_ns
    ))
  ON CONFLICT DO NOTHING`;

/** The number of series and frames of a window. */
export function weightOf({ series: all }: Window): number {
  let weight = all.size;
  for (const series of all.values()) {
    if (series.type === "profile") weight += series.frames.size;
  }
  return weight;
}
