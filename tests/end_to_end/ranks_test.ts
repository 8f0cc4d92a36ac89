/** Tests of ranks: the processes of a distributed job are told apart, by fake launchers. */

import assert from "node:assert/strict";
import type { Tags } from "@service/core";
import { isExact, runScenario } from "../doubles/cuda/harness.ts";
import { compiler } from "../doubles/cuda/build.ts";
import { missingCompiler, testUnless } from "../skipping.ts";
import { readLocal, startRun, until } from "../stack.ts";
import { temporaryDirectory } from "../temporary_directory.ts";

/** Starts the rest of its command twice, with the variables that torchrun sets. */
const TORCHRUN = `
export WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 MASTER_ADDR=node0 MASTER_PORT=29500 WANDB_API_KEY=secret
for local in 0 1; do RANK=$((local + 2)) LOCAL_RANK=$local "$@" & done
wait`;

/** The tags among these that tell the place in a distributed job. */
function placeIn(tags: Tags): Tags {
  const names = /^(process\.(local_)?(rank|world_size)|distributed\..*|slurm\..*|job)$/;
  return Object.fromEntries(Object.entries(tags).filter(([name]) => names.test(name)));
}

testUnless(missingCompiler(compiler))(
  "each GPU process has the rank that torchrun gave it, and secrets stay in its environment",
  async () => {
    const { payload, books } = await runScenario("live", {
      wrapper: ["bash", "-c", TORCHRUN, "torchrun"],
      env: { SLURM_JOB_ID: "77", SLURM_PROCID: "1", SLURM_NTASKS: "2", SLURM_JWT: "secret" },
      async during({ run, books, openGate }) {
        const done = await until(async () => (await books()).length === 2 && await books());
        await until(async () => {
          const payload = await readLocal(run);
          const known = done.every(({ pid }) =>
            payload.resources.some(({ tags, attributes }) =>
              tags["process.pid"] === pid && "process.root_pid" in attributes
            )
          );
          return known && isExact(payload, done);
        });
        await openGate();
      },
    });
    const root = payload.context["process.pid"]!;
    for (const { pid } of books) {
      const series = payload.metrics.filter(({ name, tags }) =>
        /^(cuda|gpu)_/.test(name) && tags["process.pid"] === pid
      );
      assert(series.length > 3, `${series.length} series of GPU activity`);
      const ranks = new Set(
        series.map(({ tags }) => `${tags["process.rank"]} ${tags["process.local_rank"]}`),
      );
      assert.equal(ranks.size, 1);
      const [[rank, local_rank] = []] = [...ranks].map((pair) => pair.split(" ").map(Number));
      assert.equal(rank! - 2, local_rank);
      const resources = payload.resources.filter(({ tags }) => tags["process.pid"] === pid);
      assert.equal(resources.length, 1);
      const { tags, attributes } = resources[0]!;
      assert.deepEqual(tags, { "process.pid": pid });
      assert.equal(attributes["process.root_pid"], root);
      assert.deepEqual(placeIn(attributes), {
        "process.rank": String(rank),
        "process.local_rank": String(local_rank),
        "process.world_size": "4",
        "process.local_world_size": "2",
        "distributed.master_addr": "node0",
        "distributed.master_port": "29500",
        "slurm.job_id": "77",
        "slurm.proc_id": "1",
        job: "77",
      });
    }
    const ranks = payload.metrics.flatMap(({ tags }) => tags["process.rank"] ?? []);
    assert.deepEqual([...new Set(ranks)].sort(), ["2", "3"]);
    assert.equal(JSON.stringify(payload.resources).includes("secret"), false);
    assert.equal(JSON.stringify(payload.context).includes("secret"), false);
  },
);

Deno.test("a run that mpirun started has the place of its rank among its own tags", async () => {
  await using directory = await temporaryDirectory();
  await using run = startRun(["sleep", "1000"], {
    directory: directory.path,
    env: {
      OMPI_COMM_WORLD_RANK: "5",
      OMPI_COMM_WORLD_LOCAL_RANK: "1",
      OMPI_COMM_WORLD_SIZE: "8",
      OMPI_COMM_WORLD_LOCAL_SIZE: "4",
      PMIX_NAMESPACE: "prterun-node0-7@1",
      PMIX_SERVER_URI41: "secret",
    },
  });
  const { context } = await readLocal(run);
  assert.deepEqual(placeIn(context), {
    "process.rank": "5",
    "process.local_rank": "1",
    "process.world_size": "8",
    "process.local_world_size": "4",
    job: "prterun-node0-7@1",
  });
});
