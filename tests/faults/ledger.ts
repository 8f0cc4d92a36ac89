/** Ledger of one instance: windows sent and acknowledged, and the reads that are right then. */

import assert from "node:assert/strict";
import { decode, encodeUpload, type Series, type Signals, signals } from "@service/core";
import { nsFromTs } from "@service/core/time";
import { makeUpload, newInstanceId } from "../../edge/testing/api.ts";

/** Environment of an API that ledgers read without a pause. */
export const WITHOUT_RATE_LIMIT = { SERVICE_READS_PER_SECOND: "1000000" };

/** Options of a {@linkcode Ledger}. */
export interface LedgerOptions {
  key: string;
  /** Start of the instance, epoch seconds. */
  start: number;
  /** Length of a window in seconds. */
  seconds?: number;
  /** Count of windows; the last is final. */
  windows: number;
  instance_id?: string;
}

/** Count of windows per counter. */
const PART = 48;

/**
 * An instance with one bit per window in its counters: window `i` adds `2 ** (i % 48)`. Every other
 * set of windows, and a window counted twice, has another total.
 */
export class Ledger {
  readonly instance_id: string;
  readonly windows: number;
  readonly #options: LedgerOptions;
  readonly #key: string;
  readonly #start: number;
  readonly #seconds: number;
  readonly #sent = new Set<number>();
  readonly #acknowledged = new Set<number>();

  /** An instance that has sent nothing. */
  constructor(options: LedgerOptions) {
    const { key, start, windows, seconds = 10, instance_id = newInstanceId() } = options;
    this.#options = { ...options, instance_id };
    this.instance_id = instance_id;
    this.windows = windows;
    this.#key = key;
    this.#start = start;
    this.#seconds = seconds;
  }

  /** Notes a window as sent and acknowledged in another way. */
  adopt(i: number): void {
    this.#sent.add(i);
    this.#acknowledged.add(i);
  }

  /** A copy of the ledger in its present state. */
  copy(): Ledger {
    const copy = new Ledger(this.#options);
    for (const i of this.#acknowledged) copy.adopt(i);
    return copy;
  }

  /** Notes that windows which `other` sent may be stored too. */
  mayHold(other: Ledger): void {
    for (const i of other.#sent) this.#sent.add(i);
  }

  /** Body of upload `i`: always the same text. */
  body(i: number): string {
    const to = this.#endOf(i);
    return encodeUpload(makeUpload({
      instance_id: this.instance_id,
      start: this.#start,
      from: to - this.#seconds,
      to,
      final: i === this.windows - 1,
      series: seriesOf(i, nsFromTs(to)),
    }));
  }

  /** Sends a window once: acknowledged, or to be sent again. */
  async send(url: string, i: number): Promise<"acknowledged" | "again"> {
    this.#sent.add(i);
    const answer = await asked(`${url}/api/v1/ingest`, {
      method: "POST",
      headers: { "x-api-key": this.#key, "content-type": "application/json" },
      body: this.body(i),
    });
    if (!answer) return "again";
    assert.equal(answer.status, 200, answer.text);
    this.#acknowledged.add(i);
    return "acknowledged";
  }

  /** Sends a window until it is acknowledged; `revive` is called after each failure. */
  async deliver(target: { url: string }, i: number, revive: () => Promise<void>): Promise<void> {
    while (await this.send(target.url, i) === "again") await revive();
  }

  /** Payload from a window's start, to the start of window `until` if given; `null`: ask again. */
  async read(url: string, from = 0, until?: number): Promise<Signals | null> {
    const query = new URLSearchParams({
      instance_id: this.instance_id,
      start: String(this.#endOf(from) - this.#seconds),
      ...(until !== undefined && { end: String(this.#endOf(until - 1)) }),
    });
    const answer = await asked(`${url}/api/v1/signals?${query}`, {
      headers: { "x-api-key": this.#key },
    });
    if (!answer) return null;
    assert.equal(answer.status, 200, answer.text);
    return signals.check(decode(answer.text));
  }

  /** Asserts that a read has each window up to its instant once, and all acknowledged before. */
  async expectPrefix(url: string): Promise<void> {
    const known = this.#chain(this.#acknowledged);
    const payload = await this.read(url);
    if (!payload) return;
    const upto = Number((payload.payload_ns - nsFromTs(this.#start)) / nsFromTs(this.#seconds));
    assert.ok(upto >= known, `a read ends at window ${upto}, after ${known} were acknowledged`);
    if (upto < this.windows) assert.ok(upto <= this.#chain(this.#sent));
    assert.deepEqual(windowsIn(payload), range(0, Math.min(upto, this.windows)));
  }

  /** Asserts that every window is stored once, read as a whole and in spans between `cuts`. */
  async expectWhole(url: string, cuts: number[] = range(0, this.windows)): Promise<void> {
    for (let i = 0; i < this.windows; i++) assert.ok(this.#acknowledged.has(i));
    await this.expectSpan(url, [0, this.windows]);
    for (const [i, from] of cuts.entries()) {
      await this.expectSpan(url, [from, cuts[i + 1] ?? this.windows]);
    }
  }

  /** Asserts that a read from the start of one window to the start of another has those between. */
  async expectSpan(url: string, [from, until]: [number, number]): Promise<void> {
    const payload = await this.read(url, from, until);
    assert.ok(payload, "the API answers");
    assert.deepEqual(windowsIn(payload), range(from, until), `windows ${from} to ${until}`);
  }

  /** Whether any window was acknowledged. */
  get hasBegun(): boolean {
    return this.#acknowledged.size > 0;
  }

  #endOf(i: number): number {
    return this.#start + (i + 1) * this.#seconds;
  }

  /** Count of windows before the first missing one. */
  #chain(windows: Set<number>): number {
    let i = 0;
    while (windows.has(i)) i++;
    return i;
  }
}

/** Numbers from `a`, and below `b`. */
export function range(a: number, b: number): number[] {
  return Array.from({ length: b - a }, (_, i) => a + i);
}

/** Numbers of the windows in a payload. */
export function windowsIn({ metrics }: Signals): number[] {
  const windows: number[] = [];
  for (const { name, type, tags, stats } of metrics) {
    if (name !== "windows_total" || type !== "counter") continue;
    const bits = BigInt(stats.total);
    for (let bit = 0; bits >> BigInt(bit) > 0n; bit++) {
      if (bits >> BigInt(bit) & 1n) windows.push(Number(tags.part) * PART + bit);
    }
  }
  windows.sort((a, b) => a - b);
  const newest = metrics.find(({ name }) => name === "window");
  if (windows.length > 0) assert.deepEqual(newest?.stats, { value: windows.at(-1) });
  const frames = metrics.find(({ type }) => type === "profile");
  const samples = frames?.type === "profile"
    ? frames.stats.frames.reduce((sum, frame) => sum + frame.samples, 0)
    : 0;
  assert.equal(samples, windows.length);
  return windows;
}

function seriesOf(i: number, updated_ns: bigint): Series[] {
  const common = { tags: {}, updated_ns };
  const tags = { part: String(Math.floor(i / PART)) };
  return [
    { ...common, name: "windows_total", type: "counter", tags, total: 2 ** (i % PART) },
    { ...common, name: "window", type: "gauge", value: i },
    {
      ...common,
      name: "kernels",
      type: "profile",
      frames: new Map([[`kernel_${i % 7}`, { value: i, samples: 1 }]]),
    },
  ];
}

/** Answer, or `null` if the request is to be sent again. */
async function asked(
  url: string,
  init: RequestInit,
): Promise<{ status: number; text: string } | null> {
  try {
    const response = await fetch(url, init);
    const text = await response.text();
    if (response.status !== 503) return { status: response.status, text };
    assert.ok(Number(response.headers.get("retry-after")) >= 1, "503 says when to ask again");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return null;
}
