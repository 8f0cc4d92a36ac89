/** Open minutes: their windows, merged on arrival. */

import { absorb, type Window } from "@service/core";
import { noEntries } from "@service/core/entries";
import { Lru } from "@service/core/lru";
import { type Database, type Statement, statement } from "../database/database.ts";
import type { Dictionaries, InstanceName, PackedWindow } from "./dictionaries.ts";
import { FINEST, spanEnd, spanNs } from "./levels.ts";

/** Series and frames that all open minutes may have together: some 50 MB. */
const MAX_WEIGHT = 200_000;

/** The roll-up of a minute, as it is stored. */
export interface PackedMinute {
  end_ns: bigint;
  from_ns: bigint;
  to_ns: bigint;
  packed: PackedWindow;
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
  window: Window;
  digest: Uint8Array;
}

/**
 * Merges the windows of minutes that are not over, so that they need not be read when the minute ends.
 * A merge may lack windows that another process got: it is stored only if its windows are the stored
 * ones, and is made from the stored ones otherwise.
 */
export class OpenMinutes {
  readonly #dictionaries: Dictionaries;
  readonly #open = new Lru<string, OpenMinute>({ max: MAX_WEIGHT, weigh: weightOf });

  /** With the dictionaries that pack roll-ups. */
  constructor(dictionaries: Dictionaries) {
    this.#dictionaries = dictionaries;
  }

  /** The minutes that end with a window, which is about to be stored and belongs to this from now on. */
  async closeWith(db: Database, closing: ClosingWindow): Promise<PackedMinute[]> {
    const { name } = closing;
    return await Promise.all(
      this.#closed(closing).map(async ({ end_ns, merged, digests }) => ({
        end_ns,
        from_ns: merged.from_ns,
        to_ns: merged.to_ns,
        packed: await this.#dictionaries.packRollup(db, { name, window: merged }),
        digests: digests.join(),
      })),
    );
  }

  #closed({ name, window, digest }: ClosingWindow): OpenMinute[] {
    const key = `${name.project} ${name.instance_id}`;
    const closed: OpenMinute[] = [];
    const { from_ns, to_ns } = window;
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
      absorb(open.merged, window);
      open.digests.push(digestText);
    } else if (from_ns <= end_ns - spanNs(FINEST)) {
      open = { end_ns, merged: { ...window, ...noEntries() }, digests: [digestText] };
    }
    if (open?.end_ns === to_ns) closed.push(open);
    else if (open) this.#open.set(key, open);
    return closed;
  }
}

/** The statement that stores the roll-up of a minute, if its windows are the stored ones. */
export function storingMinute(
  { packed, ...minute }: PackedMinute,
  name: InstanceName,
): Statement {
  const { body, dictionary: { hash } } = packed;
  const { project, instance_id } = name;
  const after_ns = minute.end_ns - spanNs(FINEST);
  return statement(INSERT_MINUTE, { ...minute, project, instance_id, body, hash, after_ns });
}

const INSERT_MINUTE = `INSERT INTO windows
    (instance, level, end_ns, from_ns, to_ns, dictionary, body)
  SELECT i.id, ${FINEST}, :end_ns, :from_ns, :to_ns, d.id, :body FROM instances i
  JOIN dictionaries d ON d.instance = i.id AND d.hash = :hash
  WHERE project = :project AND instance_id = :instance_id AND watermark_ns >= :to_ns
    AND :digests = (SELECT group_concat(hex(digest)) FROM (
      SELECT digest FROM windows WHERE instance = i.id AND level = 0
        AND end_ns > :after_ns AND end_ns <= :end_ns ORDER BY end_ns
    ))
  ON CONFLICT DO NOTHING`;

function weightOf({ merged }: OpenMinute): number {
  let weight = merged.series.size;
  for (const series of merged.series.values()) {
    if (series.type === "profile") weight += series.frames.size;
  }
  return weight;
}
