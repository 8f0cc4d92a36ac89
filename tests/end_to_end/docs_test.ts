import assert from "node:assert/strict";
import { withFlagTable } from "../../docs/flags.ts";
import { metricsPage } from "../../docs/metrics.ts";

Deno.test("the README has the table of flags (deno run -A docs/flags.ts writes it)", async () => {
  const text = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  assert.match(text, /^\| Flag /m);
  assert.equal(text, withFlagTable(text));
});

Deno.test("docs/metrics.md is what the catalogue says (deno run -A docs/metrics.ts writes it)", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/metrics.md", import.meta.url));
  assert.equal(page, metricsPage());
});
