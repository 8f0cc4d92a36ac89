/** Minutes that are not over: their windows, merged as they come. */

import { absorb, type Window } from "@service/core";
import { noEntries } from "@service/core/entries";
import { Lru } from "@service/core/lru";
import { type Database, type Statement, statement } from "../database/database.ts";
import type { Dictionaries, InstanceName, PackedWindow } from "./dictionaries.ts";
import { spanEnd, spanNs } from "./levels.ts";

/** The finest level of roll-ups. */
const MINUTE = 60;

/** Series and frames that all open minutes may have together: some 50 MB. */
const MAX_KEPT = 200_000;

/** The roll-up of a minute that is over, as it is stored. */
export interface PackedMinute {
  end_ns: bigint;
  from_ns: bigint;
  to_ns: bigint;
  packed: PackedWindow;
  /** What it was made of: windows have no others with the same content. */
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
 * Minutes that are not over, merged as their windows come: one that ends need not be read. What is kept
 * may lack what another process was sent, so it is stored only where its windows are the stored ones;
 * what is missing is made of these.
 */
export class OpenMinutes {
  readonly #dictionaries: Dictionaries;
  readonly #open = new Lru<string, OpenMinute>({ max: MAX_KEPT, weigh: weightOf });

  /** With the dictionaries that roll-ups are packed by. */
  constructor(dictionaries: Dictionaries) {
    this.#dictionaries = dictionaries;
  }

  /** Takes over a window that is about to be stored; gives the minutes that are over with it. */
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
    const end_ns = spanEnd(to_ns, MINUTE);
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
    } else if (from_ns <= end_ns - spanNs(MINUTE)) {
      open = { end_ns, merged: { ...window, ...noEntries() }, digests: [digestText] };
    }
    if (open?.end_ns === to_ns) closed.push(open);
    else if (open) this.#open.set(key, open);
    return closed;
  }
}

/** The statement that stores the roll-up of a minute, if it is made of what is stored. */
export function storingMinute(
  { packed, ...minute }: PackedMinute,
  name: InstanceName,
): Statement {
  const { body, dictionary: { hash } } = packed;
  const { project, instance_id } = name;
  const after_ns = minute.end_ns - spanNs(MINUTE);
  return statement(INSERT_MINUTE, { ...minute, project, instance_id, body, hash, after_ns });
}

const INSERT_MINUTE = `INSERT INTO windows
    (instance, level, end_ns, from_ns, to_ns, dictionary, body)
  SELECT i.id, ${MINUTE}, :end_ns, :from_ns, :to_ns, d.id, :body FROM instances i
  JOIN dictionaries d ON d.instance = i.id AND d.hash = :hash
  WHERE project = :project AND instance_id = :instance_id AND watermark_ns >= :to_ns
    AND :digests = (SELECT group_concat(hex(digest)) FROM (
      SELECT digest FROM windows WHERE instance = i.id AND level = 0
        AND end_ns > :after_ns AND end_ns <= :end_ns ORDER BY end_ns
    ))
  ON CONFLICT DO NOTHING`;

function weightOf({ merged }: OpenMinute): number {
  let weight = merged.series.size;
  for (const one of merged.series.values()) if (one.type === "profile") weight += one.frames.size;
  return weight;
}
