/** The history keeps what was measured in the last minutes, within its limits. */

import assert from "node:assert/strict";
import { emptyWindow, mergeAll, type Series, seriesKey, type Window } from "@service/core";
import { WindowPacker } from "@service/core/packed";
import { SECOND_NS } from "@service/core/time";
import fc from "fast-check";
import { History, type HistoryLimits } from "./history.ts";

const START_NS = 1_790_000_000n * SECOND_NS;

function history(limits: Partial<HistoryLimits> = {}): History {
  const instance = {
    instance_id: "0123456789ab",
    profiler_version: "0.1.0",
    start_ns: START_NS,
    tags: {},
    attributes: {},
  };
  return new History(new WindowPacker(instance), limits);
}

/** Windows of these lengths, each with a counter of its own and one that all have. */
function chain(lengths: readonly bigint[], series = 1): Window[] {
  let from_ns = START_NS;
  return lengths.map((length_ns, i) => {
    const window = { ...emptyWindow(from_ns), to_ns: from_ns + length_ns };
    from_ns = window.to_ns;
    for (const name of ["all", ...Array.from({ length: series }, (_, k) => `n${(i + k) % 50}`)]) {
      const counter: Series = {
        name,
        type: "counter",
        tags: {},
        updated_ns: window.to_ns,
        total: i + 1,
      };
      window.series.set(seriesKey(counter), counter);
    }
    window.errors.push({ level: "error", message: `${i}`, exception: "", log_ns: window.to_ns });
    return window;
  });
}

function seconds(count: number): bigint[] {
  return Array.from({ length: count }, () => SECOND_NS);
}

async function filled(windows: readonly Window[], limits?: Partial<HistoryLimits>) {
  const subject = history(limits);
  for (const window of windows) await subject.add(window);
  return subject;
}

function total({ series }: Window): unknown {
  const counter = [...series.values()].find(({ name }) => name === "all");
  return counter?.type === "counter" ? counter.total : undefined;
}

const lengths = fc.array(fc.bigInt(1n, 2n * SECOND_NS), { minLength: 1, maxLength: 30 });
const instants = fc.bigInt(-2n * SECOND_NS, 70n * SECOND_NS).map((ns) => START_NS + ns);

Deno.test("a read is the merge of the windows that end in the span, and consecutive reads tile", async () => {
  await fc.assert(fc.asyncProperty(lengths, instants, instants, async (lengths, a, b) => {
    const [from_ns, to_ns] = a < b ? [a, b] : [b, a];
    const windows = chain(lengths);
    const subject = await filled(windows);
    const expected = windows.filter((one) => from_ns < one.to_ns && one.to_ns <= to_ns);
    const { window, payload_ns, gaps } = await subject.read({ from_ns, to_ns });
    assert.deepEqual(gaps, []);
    assert.deepEqual(window, expected.length > 0 ? mergeAll(expected) : emptyWindow(from_ns));
    assert(payload_ns >= from_ns && payload_ns <= to_ns);

    const next = await subject.read({ from_ns: payload_ns, to_ns });
    assert.deepEqual(next.window, emptyWindow(payload_ns), "nothing is read twice");
  }));
});

Deno.test("a read selects metrics", async () => {
  const subject = await filled(chain(seconds(3), 2));
  const { window } = await subject.read({ from_ns: 0n, to_ns: START_NS * 2n }, {
    metrics: ["n1*"],
  });
  assert.deepEqual([...window.series.values()].map(({ name }) => name), ["n1"]);
});

Deno.test("what is older than the limit is a gap, and the window starts after it, at a cut", async () => {
  const windows = chain([...seconds(695), SECOND_NS / 2n]);
  const subject = await filled(windows);
  const end_ns = windows.at(-1)!.to_ns;
  const span = { from_ns: START_NS - 5n * SECOND_NS, to_ns: end_ns };
  const { window, payload_ns, gaps } = await subject.read(span);
  const known_ns = START_NS + 90n * SECOND_NS;
  assert.deepEqual(gaps, [{ from_ns: START_NS, to_ns: known_ns }]);
  assert.deepEqual([window.from_ns, payload_ns], [known_ns, end_ns]);
  assert.deepEqual(window, mergeAll(windows.slice(90)));

  const old = { from_ns: START_NS, to_ns: START_NS + SECOND_NS };
  const { window: nothing, ...rest } = await subject.read(old);
  assert.equal(nothing.series.size, 0);
  assert.deepEqual(rest, { payload_ns: old.to_ns, gaps: [old] });
});

Deno.test("at a limit, resolution is lost in proportion to the age, and counts never", async () => {
  const windows = chain(seconds(600));
  const subject = await filled(windows, { windows: 100 });
  const end_ns = windows.at(-1)!.to_ns;
  const whole = await subject.read({ from_ns: START_NS, to_ns: end_ns });
  assert.deepEqual(whole.window, mergeAll(windows));
  for (let seconds = 5n; seconds <= 600n; seconds += 5n) {
    const { window } = await subject.read({ from_ns: end_ns - seconds * SECOND_NS, to_ns: end_ns });
    const late_ns = end_ns - seconds * SECOND_NS - window.from_ns;
    if (seconds % 10n === 0n) assert.equal(late_ns, 0n, "cuts are kept apart");
    assert(late_ns >= 0n, `${seconds} s are in the window`);
    assert(late_ns <= seconds * SECOND_NS / 4n, `${seconds} s are ${late_ns} ns longer`);
  }
});

Deno.test("bytes stay below the limit, whatever is added", async () => {
  const bytes = 20_000;
  const windows = chain(seconds(300), 40);
  const subject = history({ bytes });
  for (const window of windows) {
    await subject.add(window);
    assert(subject.bytes <= bytes);
  }
  const { window } = await subject.read({ from_ns: START_NS, to_ns: windows.at(-1)!.to_ns });
  assert.equal(total(window), 300 * 301 / 2);
  assert.deepEqual(window, mergeAll(windows));
});
