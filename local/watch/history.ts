/**
 * The history: windows of the last ten minutes in memory, as short as they were measured. Reads of a
 * span merge them.
 */

import { absorb, emptyWindow, type SpanWindow, type SteppedSpan, type Window } from "@service/core";
import type { Interval } from "@service/core/gaps";
import { type PackedWindow, readWindow, type WindowPacker } from "@service/core/packed";
import { metricMatcher, type Selection } from "@service/core/selection";
import { earlier, later, SECOND_NS } from "@service/core/time";
import { yieldToEventLoop } from "@service/core/yield";
import { endsCut } from "./accumulator.ts";
import type { WindowSource } from "../serve/windows.ts";

/** Limits of a history. */
export interface HistoryLimits {
  /** Least age at which windows are removed, all those up to a cut at once. */
  seconds: number;
  /** Bytes of all windows, and of the blocks that they name. */
  bytes: number;
  /** Number of windows: ticks, and refreshes between them. */
  windows: number;
}

const LIMITS: HistoryLimits = { seconds: 600, bytes: 16 * 2 ** 20, windows: 2_000 };

/** Windows that are merged before other work may run. */
const WINDOWS_AT_ONCE = 16;

/** What it costs to merge two windows between which there was a cut. */
const ACROSS_CUTS = 1_000;

/** A window, packed, and its span. */
interface KeptWindow extends PackedWindow, Interval {
  endsCut: boolean;
}

/**
 * Windows of one instance, the oldest first. At a limit the two adjacent ones are merged that span the
 * least time in proportion to their age: resolution is lost where it matters least, counts never. The
 * first window starts at a cut, where what is kept of cuts elsewhere joins it.
 */
export class History implements WindowSource {
  readonly #packer: WindowPacker;
  readonly #limits: HistoryLimits;
  readonly #windows: KeptWindow[] = [];
  /** Start of the first window there ever was. */
  #start_ns: bigint | undefined;

  /** A history without windows, whose windows `packer` packs. */
  constructor(packer: WindowPacker, limits: Partial<HistoryLimits> = {}) {
    this.#packer = packer;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Bytes of the windows, and of the blocks that they name. */
  get bytes(): number {
    const blocks = new Set(this.#windows.map(({ block }) => block));
    return sizeOf(this.#windows) + sizeOf(blocks);
  }

  /** The part of a span that is too old to be here. */
  missingIn({ from_ns, to_ns }: Interval): Interval | undefined {
    const gap = {
      from_ns: later(from_ns, this.#start_ns ?? from_ns),
      to_ns: earlier(to_ns, this.#windows[0]?.from_ns ?? from_ns),
    };
    return gap.from_ns < gap.to_ns ? gap : undefined;
  }

  /** Adds the newest window; calls must not overlap. */
  async add(window: Window): Promise<void> {
    this.#start_ns ??= window.from_ns;
    this.#windows.push(await this.#pack(window, endsCut(window)));
    const oldest_ns = window.to_ns - BigInt(this.#limits.seconds) * SECOND_NS;
    const last = this.#windows.findLastIndex((one) => one.endsCut && one.to_ns <= oldest_ns);
    this.#windows.splice(0, last + 1);
    while (this.#windows.length > 1 && this.#isFull()) {
      await this.#mergeTwo();
      await yieldToEventLoop();
    }
  }

  /** The merge of the windows that end in the span; a gap is what is too old to be here. */
  async read({ from_ns, to_ns }: Interval, { metrics }: Selection = {}): Promise<SpanWindow> {
    const all = this.#windows;
    const found = all.filter((one) => from_ns < one.to_ns && one.to_ns <= to_ns);
    const gap = this.missingIn({ from_ns, to_ns });
    const newest_ns = all.at(-1)?.to_ns ?? from_ns;
    const payload_ns = found.at(-1)?.to_ns ?? later(from_ns, earlier(to_ns, newest_ns));
    const window = emptyWindow(found[0]?.from_ns ?? from_ns);
    const wanted = metricMatcher(metrics);
    for (const [i, one] of found.entries()) {
      if (i % WINDOWS_AT_ONCE === WINDOWS_AT_ONCE - 1) await yieldToEventLoop();
      absorb(window, unpack(one, wanted));
    }
    return { window, payload_ns, gaps: gap ? [gap] : [] };
  }

  /** The same for each step; none before the first window. */
  async *steps(
    { step_ns, ...span }: SteppedSpan,
    selection?: Selection,
  ): AsyncGenerator<SpanWindow> {
    const [first] = this.#windows;
    let from_ns = later(span.from_ns, first?.from_ns ?? span.to_ns);
    while (from_ns < earlier(span.to_ns, this.#windows.at(-1)?.to_ns ?? from_ns)) {
      const to_ns = earlier((from_ns / step_ns + 1n) * step_ns, span.to_ns);
      const reading = await this.read({ from_ns, to_ns }, selection);
      if (reading.window.from_ns < reading.window.to_ns) yield { ...reading, payload_ns: to_ns };
      from_ns = to_ns;
    }
  }

  #isFull(): boolean {
    return this.#windows.length > this.#limits.windows || this.bytes > this.#limits.bytes;
  }

  async #mergeTwo(): Promise<void> {
    const at = leastExact(this.#windows);
    const [first, second] = this.#windows.slice(at, at + 2);
    const window = unpack(first!);
    absorb(window, unpack(second!));
    this.#windows.splice(at, 2, await this.#pack(window, second!.endsCut));
  }

  async #pack(window: Window, endsCut: boolean): Promise<KeptWindow> {
    const { from_ns, to_ns } = window;
    return { ...await this.#packer.pack(window), from_ns, to_ns, endsCut };
  }
}

/** Index of the first of two adjacent windows that span the least time in proportion to their age. */
function leastExact(windows: readonly KeptWindow[]): number {
  const newest_ns = windows.at(-1)!.to_ns;
  let least = Infinity;
  let found = 0;
  for (let i = 0; i < windows.length - 1; i++) {
    const { from_ns, to_ns, endsCut } = windows[i]!;
    const share = Number(windows[i + 1]!.to_ns - from_ns) / Number(newest_ns - to_ns);
    const cost = endsCut ? share * ACROSS_CUTS : share;
    if (cost < least) [least, found] = [cost, i];
  }
  return found;
}

function unpack({ frame, block }: PackedWindow, wanted?: (name: string) => boolean): Window {
  return readWindow(frame, { table: block.table, wanted }).window;
}

function sizeOf(all: Iterable<Pick<PackedWindow, "frame">>): number {
  let bytes = 0;
  for (const { frame } of all) bytes += frame.bytes.length;
  return bytes;
}
