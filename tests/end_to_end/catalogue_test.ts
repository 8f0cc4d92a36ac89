/** Test of the catalogue against a run that records everything possible: CUDA, devices, an engine, an upload. */

import assert from "node:assert/strict";
import { catalogue, describe } from "@service/core";
import { compiler } from "../doubles/cuda/build.ts";
import { runScenario } from "../doubles/cuda/harness.ts";
import { driver } from "../doubles/nvml/build.ts";
import { temporaryDirectory } from "../temporary_directory.ts";
import { readLocal, until } from "../stack.ts";
import { missingCompiler, testUnless } from "../skipping.ts";

/** Metrics in the catalogue that the run cannot record, and the reason. */
const NOT_RECORDED: Record<string, string> = {
  process_count: "all processes have series of their own where there are few",
  rocm_kernels_nanoseconds: "the interface names it; no source captures ROCm yet",
  ...await exists("/proc/pressure/cpu") ? {} : {
    host_pressure_stall_microseconds: "this kernel keeps no pressure",
    host_pressure_stall_percent: "this kernel keeps no pressure",
  },
};

/** The only metric of the engine's page; the service does not define it. */
const OF_THE_ENGINE = "engine_queue_length";

/** A device that has everything, as a script of the fake driver. */
const DEVICE = `
  ${[2, 3, 5, 10, 11, 12, 13, 20, 21, 60, 61].map((metric) => `gpm 0 ${metric} 1000000`).join("\n")}
`;

testUnless(missingCompiler(compiler))(
  "the catalogue has every recorded metric with its type and tags, and few others",
  async () => {
    await using engine = serve(() =>
      new Response(`# TYPE ${OF_THE_ENGINE} gauge\n${OF_THE_ENGINE} 1\n`)
    );
    await using hosted = serve(async (request) => {
      await request.bytes();
      return Response.json({ stored: true });
    });
    await using directory = await temporaryDirectory();
    await Deno.writeTextFile(`${directory.path}/script`, DEVICE);
    const { payload: { metrics } } = await runScenario("live", {
      flags: ["--metrics-url", `${urlOf(engine)}/metrics`],
      env: {
        SERVICE_API_BASE: urlOf(hosted),
        SERVICE_API_KEY: "any",
        SERVICE_NVML_LIBRARY: await driver(),
        FAKE_NVML: `${directory.path}/script`,
      },
      async during({ run, openGate }) {
        // These take two samples, or two polls.
        const last = ["process_cpu_usage_percent", "gpu_fp64_utilization_percent_distribution"];
        await until(async () => {
          const { metrics } = await readLocal(run);
          return last.every((expected) => metrics.some(({ name }) => name === expected));
        });
        await openGate();
      },
    });

    const recorded = new Set(metrics.map(({ name }) => name));
    assert(recorded.delete(OF_THE_ENGINE), "the engine's page was read");
    const expected = catalogue.map(({ name }) => name).filter((name) => !(name in NOT_RECORDED));
    assert.deepEqual([...recorded].sort(), expected);
    for (const { name, type, tags } of metrics) {
      if (name === OF_THE_ENGINE) continue;
      const entry = describe(name)!;
      assert.equal(type, entry.type, name);
      for (const tag of Object.keys(tags)) assert(entry.tags.includes(tag), `${name}: ${tag}`);
    }
  },
);

Deno.test("metrics that the run cannot record are in the catalogue", () => {
  for (const name of Object.keys(NOT_RECORDED)) assert(describe(name), name);
});

function serve(handler: Deno.ServeHandler): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);
}

function urlOf({ addr }: Deno.HttpServer<Deno.NetAddr>): string {
  return `http://127.0.0.1:${addr.port}`;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
