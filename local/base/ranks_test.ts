/** Ranks from the variables of launchers, and from no others. */

import assert from "node:assert/strict";
import { rankTags, seriesTags } from "./ranks.ts";

/** Variables as the launchers set them, and the numbers that they mean. */
const LAUNCHED: Record<string, [env: Record<string, string>, numbers: string[]]> = {
  torchrun: [
    { RANK: "3", LOCAL_RANK: "1", WORLD_SIZE: "8", LOCAL_WORLD_SIZE: "2" },
    ["3", "1", "8", "2"],
  ],
  "Open MPI": [{
    OMPI_COMM_WORLD_RANK: "3",
    OMPI_COMM_WORLD_LOCAL_RANK: "1",
    OMPI_COMM_WORLD_SIZE: "8",
    OMPI_COMM_WORLD_LOCAL_SIZE: "2",
    PMIX_RANK: "3",
  }, ["3", "1", "8", "2"]],
  MPICH: [
    { PMI_RANK: "3", PMI_SIZE: "8", MPI_LOCALRANKID: "1", MPI_LOCALNRANKS: "2" },
    ["3", "1", "8", "2"],
  ],
  Cray: [
    { PMI_RANK: "3", PMI_SIZE: "8", PMI_LOCAL_RANK: "1", PMI_LOCAL_SIZE: "2" },
    ["3", "1", "8", "2"],
  ],
  Slurm: [{
    SLURM_PROCID: "3",
    SLURM_LOCALID: "1",
    SLURM_NTASKS: "8",
    SLURM_NTASKS_PER_NODE: "2",
    PMIX_RANK: "3",
  }, ["3", "1", "8", "2"]],
  NCCL: [{ NCCL_RANK: "3", NCCL_LOCAL_RANK: "1" }, ["3", "1"]],
  "a script that hands RANK on": [
    { RANK: "3", WORLD_SIZE: "8", SLURM_PROCID: "3", SLURM_LOCALID: "1" },
    ["3", "1", "8"],
  ],
  "torchrun under srun, which counts nodes": [
    { RANK: "3", WORLD_SIZE: "8", SLURM_PROCID: "1", SLURM_LOCALID: "0", SLURM_NTASKS: "2" },
    ["3", "", "8"],
  ],
  "a local rank alone": [{ LOCAL_RANK: "1" }, ["", "1"]],
  "what are no numbers": [{ RANK: "a secret", LOCAL_RANK: "-1", WORLD_SIZE: "" }, []],
};

const NUMBERS = [
  "process.rank",
  "process.local_rank",
  "process.world_size",
  "process.local_world_size",
];

for (const [launcher, [env, numbers]] of Object.entries(LAUNCHED)) {
  Deno.test(`the ranks and sizes of ${launcher}`, () => {
    const tags = rankTags(env);
    const found = NUMBERS.map((tag) => tags[tag] ?? "");
    assert.deepEqual(found, Object.assign(["", "", "", ""], numbers));
  });
}

Deno.test("only what tells processes apart is a tag of series", () => {
  const tags = rankTags({ RANK: "3", LOCAL_RANK: "1", WORLD_SIZE: "8", MASTER_ADDR: "node0" });
  assert.deepEqual(seriesTags(tags), { "process.rank": "3", "process.local_rank": "1" });
  assert.deepEqual(seriesTags({}), {});
});

Deno.test("addresses and Slurm's ids have tags, other variables have none", () => {
  assert.deepEqual(
    rankTags({
      MASTER_ADDR: "node0",
      MASTER_PORT: "29500",
      SLURM_STEP_ID: "0",
      SLURM_NODEID: "1",
      SLURM_JOB_NUM_NODES: "2",
      SLURM_JWT: "secret",
      NCCL_DEBUG: "INFO",
      PMI_FD: "9",
    }),
    {
      "distributed.master_addr": "node0",
      "distributed.master_port": "29500",
      "slurm.step_id": "0",
      "slurm.node_id": "1",
      "slurm.node_count": "2",
    },
  );
});

Deno.test("a job is named by Slurm, else by torchrun, else by MPI", () => {
  const mpi = { PMIX_NAMESPACE: "prterun-node0-7@1", OMPI_MCA_ess_base_jobid: "5" };
  const torchrun = { ...mpi, TORCHELASTIC_RUN_ID: "0199-ab" };
  assert.equal(rankTags({ ...torchrun, SLURM_JOB_ID: "77" }).job, "77");
  assert.equal(rankTags(torchrun).job, "0199-ab");
  assert.equal(rankTags(mpi).job, "prterun-node0-7@1");
  assert.equal(rankTags({ OMPI_MCA_ess_base_jobid: "5" }).job, "5");
});

Deno.test("torchrun's word for no run id names no job", () => {
  assert.deepEqual(rankTags({ TORCHELASTIC_RUN_ID: "none" }), {});
});
