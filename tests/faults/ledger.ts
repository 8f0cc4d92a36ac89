/** What one instance sent, what of it was acknowledged, and what reads may therefore say. */

import assert from "node:assert/strict";
import { decode, encodeUpload, type Series, type Signals, signals } from "@service/core";
import { nsFromTs } from "@service/core/time";
import { makeUpload, newInstanceId } from "../../edge/testing/api.ts";

/** Where and how an instance reports. */
export interface LedgerOptions {
  key: string;
  /** The instance's start, epoch seconds. */
  start: number;
  /** Seconds of a window. */
  seconds?: number;
  /** How many windows it sends; the last is final. */
  windows: number;
  instance_id?: string;
}

/** Windows of one counter. */
const PART = 48;

/**
 * An instance whose counters say, bit by bit, which windows a read holds: the `i`th adds `2 ** (i % 48)`
 * to one of them, so that any other set of windows, and any window counted twice, gives another total.
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

  /** Takes a window as sent and acknowledged: it came otherwise. */
  adopt(i: number): void {
    this.#sent.add(i);
    this.#acknowledged.add(i);
  }

  /** The same instance, of which no more will be known than now. */
  copy(): Ledger {
    const copy = new Ledger(this.#options);
    for (const i of this.#acknowledged) copy.adopt(i);
    return copy;
  }

  /** Notes that anything which another one sent may be there too. */
  mayHold(other: Ledger): void {
    for (const i of other.#sent) this.#sent.add(i);
  }

  /** The `i`th upload: always the same text. */
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

  /** Sends a window once; whether that is known to be stored, or it is to be sent again. */
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

  /** A read from a window's start on, to another's end where one is given; `null`: to be asked again. */
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

  /** That a read holds the windows up to its instant, each once, and misses none acknowledged before. */
  async expectPrefix(url: string): Promise<void> {
    const known = this.#chain(this.#acknowledged);
    const payload = await this.read(url);
    if (!payload) return;
    const upto = Number((payload.payload_ns - nsFromTs(this.#start)) / nsFromTs(this.#seconds));
    assert.ok(upto >= known, `a read ends at window ${upto}, after ${known} were acknowledged`);
    if (upto < this.windows) assert.ok(upto <= this.#chain(this.#sent));
    assert.deepEqual(windowsIn(payload), range(0, Math.min(upto, this.windows)));
  }

  /** That everything is there once: as a whole, and in all spans between these windows. */
  async expectWhole(url: string, cuts: number[] = range(0, this.windows)): Promise<void> {
    for (let i = 0; i < this.windows; i++) assert.ok(this.#acknowledged.has(i));
    await this.expectSpan(url, [0, this.windows]);
    for (const [i, from] of cuts.entries()) {
      await this.expectSpan(url, [from, cuts[i + 1] ?? this.windows]);
    }
  }

  /** That a read from one window's start to the start of another holds what lies between. */
  async expectSpan(url: string, [from, until]: [number, number]): Promise<void> {
    const payload = await this.read(url, from, until);
    assert.ok(payload, "nothing is wrong any more");
    assert.deepEqual(windowsIn(payload), range(from, until), `windows ${from} to ${until}`);
  }

  /** Whether something of it was acknowledged. */
  get hasBegun(): boolean {
    return this.#acknowledged.size > 0;
  }

  #endOf(i: number): number {
    return this.#start + (i + 1) * this.#seconds;
  }

  /** Windows before the first that is missing. */
  #chain(windows: Set<number>): number {
    let i = 0;
    while (windows.has(i)) i++;
    return i;
  }
}

/** The numbers from `a` up to before `b`. */
export function range(a: number, b: number): number[] {
  return Array.from({ length: b - a }, (_, i) => a + i);
}

/** Which windows a payload holds. */
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

/** An answer; `null` where the request is to be sent again. */
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
