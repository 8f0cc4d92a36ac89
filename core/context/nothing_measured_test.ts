/** Tests of the text about a span in which a run has no window. */

import assert from "node:assert/strict";
import { play } from "../findings/testdata/windows.ts";
import { training } from "../findings/testdata/workloads.ts";
import { runSubject } from "./run_subject.ts";
import { contextText } from "./text.ts";

Deno.test("a span without a window says so, and not that captures are missing or all is whole", () => {
  const { asked: { to_ns }, ...read } = play(training());
  for (const asked of [{ from_ns: to_ns, to_ns }, { from_ns: to_ns, to_ns: to_ns + 1n }]) {
    const subject = runSubject({ ...read, asked, steps: [], base_url: "http://127.0.0.1:1" });
    assert.equal(subject.findings.verdict.kind, "cannot_tell");
    const text = contextText(subject);
    assert.match(text, /^Verdict: Cannot tell, because nothing was measured in this span/m);
    assert.match(text, /^- nothing was measured in this span$/m);
    assert.doesNotMatch(text, /was not captured|Nothing is known to be missing/);
  }
});
