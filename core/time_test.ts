/** Instants in nanoseconds, whole seconds and decimal seconds, exact to the last digit. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { LAST_NS, nsFromSeconds, nsFromTs, secondsFromNs, tsFromNs } from "./time.ts";
import "./testdata/arbitrary.ts";

const instants = fc.bigInt({ min: 0n, max: LAST_NS });

Deno.test("nsFromSeconds() reverses secondsFromNs() for every nanosecond of 64 bits", () => {
  fc.assert(fc.property(instants, (ns) => assert.equal(nsFromSeconds(secondsFromNs(ns)), ns)));
  for (const ns of [0n, 1n, 999_999_999n, 1_000_000_000n, LAST_NS]) {
    assert.equal(nsFromSeconds(secondsFromNs(ns)), ns);
  }
});

Deno.test("tsFromNs() reverses nsFromTs(), and gives the second of any instant", () => {
  fc.assert(fc.property(instants, (ns) => {
    const start = nsFromTs(tsFromNs(ns));
    assert.ok(start <= ns && ns < start + 1_000_000_000n);
  }));
});

Deno.test("decimal seconds are exact to the last digit", () => {
  const cases: [text: string, ns: bigint][] = [
    ["0", 0n],
    ["1790000000", 1_790_000_000_000_000_000n],
    ["1790000000.5", 1_790_000_000_500_000_000n],
    ["1790000000.000000001", 1_790_000_000_000_000_001n],
    ["1790000000.1234567890000", 1_790_000_000_123_456_789n],
    ["0.1", 100_000_000n],
    ["007", 7_000_000_000n],
    ["9223372036.854775807", LAST_NS],
  ];
  for (const [text, ns] of cases) assert.equal(nsFromSeconds(text), ns, text);
  assert.equal(secondsFromNs(1_790_000_000_500_000_000n), "1790000000.5");
  assert.equal(secondsFromNs(1_790_000_000_000_000_000n), "1790000000");
  assert.equal(secondsFromNs(1n), "0.000000001");
});

Deno.test("text that is not decimal seconds is refused", () => {
  const texts = [
    ...["", "abc", "1e3", "-1", "+1", " 1", "1 ", "1\n", "1.", ".5", "0x10", "1,5", "1_000", "١"],
    ...["1.0000000001", "1.00000000000000000001", "1.5.5", "NaN", "Infinity", "99999999999"],
    ...["9223372036.854775808", "9999999999"],
  ];
  for (const text of texts) {
    assert.throws(() => nsFromSeconds(text), {
      name: "RangeError",
      message: new RegExp(`got ${JSON.stringify(text).replace(/[\\.+]/g, "\\$&")}$`),
    });
  }
});

Deno.test("a fraction of a second is refused", () => {
  assert.throws(() => nsFromTs(1.5), RangeError);
});
