/** Random uploads, waits, maintenance and reads, compared with a model of the stored windows. */

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  absorb,
  binIndex,
  emptyWindow,
  encodeUpload,
  type Metric,
  type Series,
  snapshot,
  type Upload,
} from "@service/core";
import { readWindows, type StreamedWindow } from "@service/core/packed";
import { nsFromTs, SECOND_NS, secondsFromNs } from "@service/core/time";
import { isOnFile, testOnEachStorage } from "../testing/each_storage.ts";
import {
  get,
  makeUpload,
  newInstanceId,
  NOW_TS,
  post,
  read,
  type TestService,
} from "../testing/api.ts";
import { maintain } from "./maintenance.ts";
import { DAY_NS } from "./levels.ts";
import { retainedFrom } from "./retention.ts";

const START = NOW_TS - 123;
const RUNS = { file: 25, server: 6 };
const COMMANDS = 40;
/** More steps would take long on a server. */
const MAX_STEPS = 100n;
const RAW_NS = 2n * DAY_NS;
const RETENTION_DAYS = 30;

/** The model: the accepted windows, and the time. */
interface Model {
  uploads: Upload[];
  stored: Set<number>;
}

/** The storage, through its public functions. */
interface Real {
  service: TestService;
  instance_id: string;
}

type Command = fc.AsyncCommand<Model, Real>;

/** Sends a window: a new one, a late one or a repeated one. */
class Send implements Command {
  constructor(readonly at: number, readonly isOther: boolean) {}
  check = () => true;
  toString = () => `send ${this.at}${this.isOther ? ", with another body" : ""}`;
  async run(model: Model, { service }: Real): Promise<void> {
    const upload = model.uploads[this.at % model.uploads.length]!;
    const at = model.uploads.indexOf(upload);
    const { to_ns } = upload.window;
    if (service.clock.now_ns < to_ns) service.clock.now_ns = to_ns;
    const isKept = service.clock.now_ns - to_ns < RAW_NS;
    const isConflict = this.isOther && model.stored.has(at) && isKept;
    if (this.isOther && !isConflict) return;
    const body = encodeUpload(isConflict ? { ...upload, profiler_version: "other" } : upload);
    const response = await post(service, body);
    const text = await response.text();
    if (isConflict) assert.equal(response.status, 409, text);
    else {
      assert.equal(response.status, 200, text);
      if (text.includes('"stored":true')) {
        assert.ok(!model.stored.has(at), "stored twice");
        model.stored.add(at);
      } else assert.ok(model.stored.has(at), "acknowledged and not stored");
    }
  }
}

/** Lets time pass; sometimes longer than the retention. */
class Wait implements Command {
  constructor(readonly hours: number) {}
  check = () => true;
  toString = () => `wait ${this.hours} h`;
  run(model: Model, { service }: Real): Promise<void> {
    const ends = [...model.stored].map((at) => model.uploads[at]!.window.to_ns);
    const last_ns = ends.reduce((a, b) => a > b ? a : b, nsFromTs(START));
    const until_ns = service.clock.now_ns + BigInt(this.hours * 3_600) * SECOND_NS;
    // The instance itself is not deleted.
    if (until_ns < last_ns + BigInt(RETENTION_DAYS - 1) * DAY_NS) service.clock.now_ns = until_ns;
    return Promise.resolve();
  }
}

/** Rolls up, downsamples and purges. */
class Maintain implements Command {
  check = () => true;
  toString = () => "maintain";
  async run(_model: Model, { service }: Real): Promise<void> {
    const { now_ns } = service.clock;
    const { blocks } = service.service.memory;
    const options = { now_ns, retention_days: RETENTION_DAYS, blocks };
    while (!await maintain(service.db, options));
  }
}

/** Reads a span with ends at which stored windows can be cut. */
class Read implements Command {
  constructor(readonly from: number, readonly to: number) {}
  check = (model: Model) => model.stored.size > 0;
  toString = () => `read ${this.from} to ${this.to}`;
  async run(model: Model, real: Real): Promise<void> {
    const { now_ns } = real.service.clock;
    const [a, b] = [this.from, this.to].map((at) => kept(instantOf(model, at), now_ns));
    const [start_ns, end_ns] = a! < b! ? [a!, b!] : [b!, a!];
    if (!isRetained(start_ns, now_ns)) return;
    const payload = await readSpan(real, start_ns, end_ns);
    assert.ok(payload.payload_ns <= end_ns);
    const chain_ns = chainEnd(model);
    assert.ok(payload.payload_ns >= (chain_ns < end_ns ? chain_ns : end_ns), "less than has come");
    assert.deepEqual(payload.metrics, expected(model, start_ns, payload.payload_ns));
  }
}

/** Reads a span with any ends, at once and in two parts. */
class ReadInParts implements Command {
  constructor(readonly at: number[]) {}
  check = (model: Model) => model.stored.size > 0;
  toString = () => `read in parts ${this.at}`;
  async run(model: Model, real: Real): Promise<void> {
    const [a, b, c] = this.at.map((at) => instantOf(model, at)).sort((x, y) => x < y ? -1 : 1);
    if (!isRetained(a!, real.service.clock.now_ns)) return;
    const total = work((await readSpan(real, a!, c!)).metrics);
    const first = await readSpan(real, a!, b!);
    const second = await readSpan(real, first.payload_ns, c!);
    assert.equal(work(first.metrics) + work(second.metrics), total);
  }
}

/** Reads a span as a stream: at once, and in steps. */
class ReadSteps implements Command {
  constructor(readonly from: number, readonly to: number, readonly seconds: number) {}
  check = (model: Model) => model.stored.size > 0;
  toString = () => `read ${this.from} to ${this.to} in steps of ${this.seconds} s`;
  async run(model: Model, real: Real): Promise<void> {
    const [a, b] = [this.from, this.to].map((at) => instantOf(model, at));
    const [start_ns, end_ns] = a! < b! ? [a!, b!] : [b!, a!];
    const step_ns = BigInt(this.seconds) * SECOND_NS;
    if (!isRetained(start_ns, real.service.clock.now_ns)) return;
    if ((end_ns - start_ns) / step_ns > MAX_STEPS) return;
    const { metrics, payload_ns } = await readSpan(real, start_ns, end_ns);
    const [whole] = await stream(real, { start_ns, end_ns });
    assert.deepEqual(snapshot(whole!.window, { context: {} }).metrics, metrics);
    assert.equal(whole!.members.payload_ns, payload_ns);
    const merged = emptyWindow(start_ns);
    let last_ns = start_ns;
    for (const { window, members } of await stream(real, { start_ns, end_ns, step_ns })) {
      const step_end_ns = members.payload_ns as bigint;
      assert.ok(step_end_ns % step_ns === 0n || step_end_ns === payload_ns);
      assert.ok(step_end_ns > last_ns && window.to_ns > window.from_ns);
      last_ns = step_end_ns;
      absorb(merged, window);
    }
    assert.deepEqual(snapshot(merged, { context: {} }).metrics, metrics);
  }
}

/** Whether a read with this start has metrics. */
function isRetained(start_ns: bigint, now_ns: bigint): boolean {
  return start_ns >= retainedFrom(now_ns, RETENTION_DAYS);
}

/** An instant near the windows, in most cases the end of one. */
function instantOf({ uploads }: Model, at: number): bigint {
  const { to_ns } = uploads[at % uploads.length]!.window;
  return to_ns + BigInt(at % 5 - 2) * SECOND_NS * 7n;
}

/** The instant, or a near one at which old roll-ups can be cut. */
function kept(at_ns: bigint, now_ns: bigint): bigint {
  const step_ns = 600n * SECOND_NS;
  return now_ns - at_ns < RAW_NS ? at_ns : at_ns / step_ns * step_ns;
}

function readSpan({ service, instance_id }: Real, start_ns: bigint, end_ns: bigint) {
  const [start, end] = [start_ns, end_ns].map(secondsFromNs);
  return read(service, `instance_id=${instance_id}&start=${start}&end=${end}`);
}

async function stream(
  { service, instance_id }: Real,
  { start_ns, end_ns, step_ns }: { start_ns: bigint; end_ns: bigint; step_ns?: bigint },
): Promise<StreamedWindow[]> {
  const [start, end] = [start_ns, end_ns].map(secondsFromNs);
  const step = step_ns === undefined ? "" : `&step=${secondsFromNs(step_ns)}`;
  const query = `instance_id=${instance_id}&start=${start}&end=${end}${step}`;
  const { body } = await get(service, `/api/v1/windows?${query}`);
  return await Array.fromAsync(readWindows(body!));
}

function chainEnd({ uploads, stored }: Model): bigint {
  const first = uploads.findIndex((_, at) => !stored.has(at));
  if (first === -1) return uploads.at(-1)!.window.to_ns;
  return uploads[first]!.window.from_ns;
}

function expected({ uploads, stored }: Model, start_ns: bigint, end_ns: bigint): Metric[] {
  const window = emptyWindow(start_ns);
  uploads.forEach((upload, at) => {
    const { to_ns } = upload.window;
    if (stored.has(at) && to_ns > start_ns && to_ns <= end_ns) absorb(window, upload.window);
  });
  return snapshot(window, { context: {} }).metrics;
}

function work(metrics: Metric[]): number {
  const counter = metrics.find(({ type }) => type === "counter");
  return counter?.type === "counter" ? Number(counter.stats.total) : 0;
}

const lengths = fc.constantFrom(7, 10, 10, 10, 10, 10, 10, 30, 61, 600, 3_600, 40_000);
const plans = fc.array(
  fc.record({
    seconds: lengths,
    work: fc.nat({ max: 1_000 }),
    frames: fc.dictionary(fc.constantFrom("gemm", "softmax", "copy", "rare"), fc.nat()),
    values: fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { maxLength: 4 }),
  }),
  { minLength: 10, maxLength: 40 },
);
type Planned = typeof plans extends fc.Arbitrary<(infer One)[]> ? One : never;

function uploadsOf(instance_id: string, plan: Planned[]): Upload[] {
  let at = START;
  return plan.map((one, i) => {
    const [from, to] = [at, at += one.seconds];
    const final = i === plan.length - 1;
    const series = seriesOf(one, nsFromTs(to));
    return makeUpload({ instance_id, start: START, from, to, final, series });
  });
}

function seriesOf({ work, frames, values }: Planned, updated_ns: bigint): Series[] {
  const common = { tags: {}, updated_ns };
  const bins = new Map<number, number>();
  for (const value of values) bins.set(binIndex(value), (bins.get(binIndex(value)) ?? 0) + 1);
  const count = [...bins.values()].reduce((sum, times) => sum + times, 0);
  const extremes = count > 0
    ? { min: Math.min(...values), max: Math.max(...values) }
    : { min: null, max: null };
  const sums = Object.entries(frames).map(([name, value]) =>
    [name, { value, samples: 1 }] as const
  );
  return [
    { ...common, name: "work_total", type: "counter", total: work },
    { ...common, name: "level", type: "gauge", value: work / 8 },
    {
      ...common,
      name: "latency",
      type: "histogram",
      count,
      sum: 0.1,
      ...extremes,
      buckets: { bins },
    },
    { ...common, name: "kernels", type: "profile", frames: new Map(sums) },
  ];
}

const commands = fc.commands<Model, Real, false>([
  fc.tuple(fc.nat(), fc.boolean()).map(([at, isOther]) => new Send(at, isOther)),
  ...[1, 2, 3].map(() => fc.nat().map((at) => new Send(at, false))),
  fc.nat({ max: 20 }).map((hours) => new Wait(hours)),
  fc.constantFrom(49, 170).map((hours) => new Wait(hours)),
  fc.constant(new Maintain()),
  fc.tuple(fc.nat(), fc.nat()).map(([from, to]) => new Read(from, to)),
  fc.tuple(fc.nat(), fc.nat(), fc.constantFrom(30, 600, 7_000))
    .map(([from, to, seconds]) => new ReadSteps(from, to, seconds)),
  fc.array(fc.nat(), { minLength: 3, maxLength: 3 }).map((at) => new ReadInParts(at)),
] as fc.Arbitrary<Command>[], { maxCommands: COMMANDS, size: "max" });

testOnEachStorage({
  async "reads equal the accepted windows, after any roll-up and removal"(service) {
    const numRuns = RUNS[await isOnFile(service) ? "file" : "server"];
    await fc.assert(
      fc.asyncProperty(plans, fc.nat({ max: 40 }), commands, async (plan, first, sent) => {
        const instance_id = newInstanceId();
        const setup = async () => {
          service.clock.now_ns = nsFromTs(START);
          const uploads = uploadsOf(instance_id, plan);
          const model: Model = { uploads, stored: new Set() };
          const real = { service, instance_id };
          for (let at = 0; at < first; at++) await new Send(at, false).run(model, real);
          return { model, real };
        };
        await fc.asyncModelRun(setup, sent);
      }),
      { numRuns, endOnFailure: true },
    );
  },
});
