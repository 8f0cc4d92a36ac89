/** The example that reads many runs. */

import assert from "node:assert/strict";
import { encodeUpload, type Series, seriesKey, type Upload } from "@service/core";
import { SECOND_NS } from "@service/core/time";
import { run } from "../command.ts";
import { type Hosted, startHosted } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

const EXAMPLE = new URL("../../examples/read_runs.ts", import.meta.url).pathname;

/** Sends a window of ten seconds, in which its processes took CPU time. */
async function send({ url, key }: Hosted, instance_id: string, cpu_seconds: number): Promise<void> {
  const to_ns = BigInt(Math.floor(Date.now() / 1_000)) * SECOND_NS;
  const from_ns = to_ns - 10n * SECOND_NS;
  const totals = {
    profiler_covered_nanoseconds: Number(to_ns - from_ns),
    process_user_cpu_seconds: cpu_seconds - 1,
    process_system_cpu_seconds: 0.5,
    process_ended_user_cpu_seconds: 0.25,
    process_ended_system_cpu_seconds: 0.25,
  };
  const series = Object.entries(totals).map(([name, total]): Series => ({
    name,
    type: "counter",
    tags: {},
    updated_ns: to_ns,
    total,
  }));
  const upload: Upload = {
    instance_id,
    profiler_version: "0.1.0",
    start_ns: from_ns,
    tags: { "host.name": "box" },
    attributes: {},
    final: true,
    window: {
      from_ns,
      to_ns,
      series: new Map(series.map((one) => [seriesKey(one), one])),
      resources: new Map(),
      errors: [],
    },
  };
  const response = await fetch(`${url}/api/v1/ingest`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: encodeUpload(upload),
  });
  assert.equal(response.status, 200, await response.text());
}

Deno.test("the example prints a line for each run, page by page", async () => {
  await using directory = await temporaryDirectory();
  await using hosted = await startHosted(directory.path);
  const expected: string[] = [];
  for (let i = 0; i < 101; i++) {
    const id = String(i).padStart(12, "0");
    await send(hosted, id, 1 + i);
    expected.push(`${id} box: ${((1 + i) / 10).toFixed(2)} CPUs`);
  }
  const command = [Deno.execPath(), "run", "-A", EXAMPLE, hosted.url];
  const { status, stdout, stderr } = await run([...command, hosted.key], { NO_COLOR: "1" });
  assert(status.success, stderr);
  assert.deepEqual(stdout.trimEnd().split("\n").sort(), expected);

  const refused = await run([...command, "svc_wrong"], { NO_COLOR: "1" });
  assert(!refused.status.success);
  assert.match(refused.stderr, /X-API-Key is missing or not valid/);
});
