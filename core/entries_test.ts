/** Lists of entries: each keeps the newest up to its limit, also after merging. */

import assert from "node:assert/strict";
import { absorbEntries, entryLists, type ErrorEntry, newestFirst, noEntries } from "./entries.ts";
import { MAX_ERRORS } from "./limits.ts";
import { emptyWindow, merge } from "./window.ts";

Deno.test("a window has every list, and each of them keeps the newest of its limit", () => {
  const window = emptyWindow(0n);
  assert.deepEqual(Object.keys(entryLists), Object.keys(noEntries()));
  for (const list of Object.keys(entryLists)) assert.ok(list in window, list);
});

Deno.test("only the newest errors are kept, oldest first", () => {
  const entry = (log_ns: bigint): ErrorEntry => ({
    level: "error",
    message: String(log_ns),
    exception: "",
    log_ns,
  });
  const all = Array.from({ length: MAX_ERRORS + 20 }, (_, i) => entry(BigInt(i)));
  const some = noEntries();
  absorbEntries(some, { errors: all.toReversed() });
  assert.deepEqual(some.errors, all.slice(20));
  const a = { ...emptyWindow(0n), to_ns: 1n, errors: all.slice(50, 110) };
  const b = { ...emptyWindow(1n), to_ns: 2n, errors: [...all.slice(0, 50), ...all.slice(110)] };
  assert.deepEqual(merge(a, b).errors, all.slice(20));
});

Deno.test("absorbing entries changes neither of the given lists", () => {
  const entry: ErrorEntry = { level: "error", message: "", exception: "", log_ns: 2n };
  const ours = { errors: [entry] };
  const before = ours.errors;
  const theirs = { errors: [{ ...entry, log_ns: 1n }] };
  absorbEntries(ours, theirs);
  absorbEntries(ours, {});
  assert.deepEqual([before.length, theirs.errors.length], [1, 1]);
  assert.deepEqual(ours.errors.map(({ log_ns }) => log_ns), [1n, 2n]);
  assert.deepEqual(newestFirst(ours).errors.map(({ log_ns }) => log_ns), [2n, 1n]);
});
