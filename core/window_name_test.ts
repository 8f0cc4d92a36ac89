/** Names of windows: what each means, and what is refused with the rule. */

import assert from "node:assert/strict";
import { nsFromTs, SECOND_NS } from "./time.ts";
import { parseWindowName, spanOfWindow } from "./window_name.ts";

const data = { from_ns: nsFromTs(1_000), to_ns: nsFromTs(1_500) };

/** The span in seconds that a text means. */
function spanOf(text: string): [number, number] {
  const { from_ns, to_ns } = spanOfWindow(parseWindowName(text), data);
  return [Number(from_ns) / 1e9, Number(to_ns) / 1e9];
}

Deno.test("all and steady are the whole run, last counts back from its newest data", () => {
  assert.deepEqual(spanOf("all"), [1000, 1500]);
  assert.deepEqual(spanOf(" Steady "), [1000, 1500]);
  assert.deepEqual(spanOf("last 60s"), [1440, 1500]);
  assert.deepEqual(spanOf("last 1.5 m"), [1410, 1500]);
  assert.deepEqual(spanOf("last 250ms"), [1499.75, 1500]);
  assert.deepEqual(spanOf("last 2h"), [1000, 1500], "not before the run");
});

Deno.test("a span is epoch seconds or RFC 3339, and ends on the day on which it begins", () => {
  assert.deepEqual(spanOf("1100..1200.5"), [1100, 1200.5]);
  const evening = Date.parse("2026-11-21T20:40:00Z") / 1000;
  assert.deepEqual(spanOf("2026-11-21T20:40:00Z..20:45"), [evening, evening + 300]);
  assert.deepEqual(spanOf("2026-11-21T22:40:00+02:00..22:40:30"), [evening, evening + 30]);
  const { span } = parseWindowName("2026-11-21T20:40:00.000000001Z..2026-11-21T20:40:00.5Z") as {
    span: { from_ns: bigint; to_ns: bigint };
  };
  assert.equal(span.to_ns - span.from_ns, SECOND_NS / 2n - 1n);
});

Deno.test("what names no window is refused with the rule", () => {
  for (
    const text of ["", "now-1h", "last", "last 60", "last 0s", "20:40..20:45", "5..5", "6..5"]
      .concat([
        "a..b",
        "1..2..3",
        "2026-11-21T20:40..21:00",
        "-1..5",
        "2026-13-41T20:40:00Z..21:00",
        "2026-11-21T20:40:00Z..2262-04-12T00:00:00Z",
      ])
  ) {
    assert.throws(() => parseWindowName(text), (error) => error instanceof RangeError, text);
  }
});
