import assert from "node:assert/strict";
import { metricsPage } from "../../docs/metrics.ts";

Deno.test("docs/metrics.md is what the catalogue says (deno run -A docs/metrics.ts writes it)", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/metrics.md", import.meta.url));
  assert.equal(page, metricsPage());
});
