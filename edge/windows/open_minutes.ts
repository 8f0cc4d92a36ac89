/** Open minutes: their windows as they came, so that they need not be read when the minute ends. */

import { absorbOwned, type Window } from "@service/core";
import { Lru } from "@service/core/lru";
import { type Frame, readWindow, WindowWriter } from "@service/core/packed";
import { type Statement, statement } from "../database/database.ts";
import type { Blocks, InstanceName } from "./blocks.ts";
import { FINEST, spanEnd, spanNs } from "./levels.ts";
import { storedMerge, type StoredWindow } from "./stored_frame.ts";

/** Bytes that all open minutes may have together. */
const MAX_BYTES = 32 * 2 ** 20;

/** Windows of one minute: with more of them, its roll-up is left to the maintenance. */
const MAX_WINDOWS = 128;

/** The roll-up of a minute, as it is stored. */
export interface PackedMinute extends StoredWindow {
  end_ns: bigint;
  from_ns: bigint;
  to_ns: bigint;
  /** Hash of the block that it names. */
  hash: Uint8Array<ArrayBuffer>;
  /** Digests of its windows, which identify them by content. */
  digests: string;
}

/** The windows of a minute so far. */
interface OpenMinute {
  end_ns: bigint;
  /** End of the last window. */
  to_ns: bigint;
  windows: Pick<ClosingWindow, "frame" | "block">[];
  digests: string[];
  bytes: number;
}

/** A window that is about to be stored. */
export interface ClosingWindow {
  name: InstanceName;
  from_ns: bigint;
  to_ns: bigint;
  /** The window without entries. */
  frame: Frame;
  /** Hash of the block that it names; roll-ups that end with it name the same one. */
  block: string;
  digest: Uint8Array;
}

/**
 * Keeps the windows of minutes that are not over. They may lack some that another process got: the
 * roll-up is stored only if its windows are the stored ones, and is made from the stored ones otherwise.
 */
export class OpenMinutes {
  readonly #blocks: Blocks;
  readonly #open = new Lru<string, OpenMinute>({ max: MAX_BYTES, weigh: ({ bytes }) => bytes });
  readonly #writer = new WindowWriter();

  /** With the blocks that windows name. */
  constructor(blocks: Blocks) {
    this.#blocks = blocks;
  }

  /** The minutes that end with a window, which is about to be stored. */
  closeWith(closing: ClosingWindow): PackedMinute[] {
    return this.#closed(closing).flatMap((minute) => this.#pack(minute, closing) ?? []);
  }

  #closed({ name, from_ns, to_ns, digest, ...window }: ClosingWindow): OpenMinute[] {
    const key = `${name.project} ${name.instance_id}`;
    const closed: OpenMinute[] = [];
    const end_ns = spanEnd(to_ns, FINEST);
    let open = this.#open.get(key);
    this.#open.delete(key);
    if (open?.to_ns !== from_ns) open = undefined;
    if (open && open.end_ns !== end_ns) {
      closed.push(open);
      open = undefined;
    }
    if (!open && from_ns <= end_ns - spanNs(FINEST)) {
      open = { end_ns, to_ns, windows: [], digests: [], bytes: 0 };
    }
    if (!open || open.windows.length === MAX_WINDOWS) return closed;
    open.to_ns = to_ns;
    open.windows.push(window);
    // As SQLite writes it.
    open.digests.push(digest.toHex().toUpperCase());
    open.bytes += window.frame.bytes.length;
    if (end_ns === to_ns) closed.push(open);
    else this.#open.set(key, open);
    return closed;
  }

  /** The roll-up of a minute; `undefined` if a block is no longer in memory, or it has too much in it. */
  #pack(
    { end_ns, to_ns, windows, digests }: OpenMinute,
    { name: { project }, block: hash }: ClosingWindow,
  ): PackedMinute | undefined {
    let window: Window | undefined;
    for (const { frame, block } of windows) {
      const known = this.#blocks.get({ project, hash: block });
      if (!known) return undefined;
      const next = readWindow(frame, known.block).window;
      if (window) absorbOwned(window, next);
      else window = next;
    }
    const block = this.#blocks.get({ project, hash })?.block;
    if (!window || !block) return undefined;
    const stored = storedMerge(this.#writer, { window, block });
    return stored && {
      ...stored,
      end_ns,
      from_ns: window.from_ns,
      to_ns,
      hash: Uint8Array.fromHex(hash),
      digests: digests.join(),
    };
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
    (instance, level, end_ns, from_ns, to_ns, received_ns, digest, block, body)
  SELECT i.id, ${FINEST}, :end_ns, :from_ns, :to_ns, i.received_ns, :digest, b.id, :body
  FROM instances i
  JOIN blocks b ON b.instance = i.id AND b.hash = :hash
  WHERE project = :project AND instance_id = :instance_id
    AND :digests = (SELECT group_concat(hex(digest)) FROM (
      SELECT digest FROM windows WHERE instance = i.id AND level = 0
        AND end_ns > :after_ns AND end_ns <= :end_ns ORDER BY end_ns
    ))
  ON CONFLICT DO NOTHING`;
