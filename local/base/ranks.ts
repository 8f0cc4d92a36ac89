/** Rank of a process: its place in a distributed job, from the variables that launchers set for it. */

import type { Tags } from "@service/core";
import { MAX_VALUE_LENGTH } from "@service/core/limits";

/** The variables of one launcher for the numbers that place a process. */
interface Launcher {
  rank: string;
  local_rank?: string;
  world_size?: string;
  local_world_size?: string;
}

/** The nearest to the process first: `mpirun` and `torchrun` are themselves started by Slurm. */
const LAUNCHERS: readonly Launcher[] = [
  {
    rank: "RANK",
    local_rank: "LOCAL_RANK",
    world_size: "WORLD_SIZE",
    local_world_size: "LOCAL_WORLD_SIZE",
  },
  {
    rank: "OMPI_COMM_WORLD_RANK",
    local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
    world_size: "OMPI_COMM_WORLD_SIZE",
    local_world_size: "OMPI_COMM_WORLD_LOCAL_SIZE",
  },
  { rank: "NCCL_RANK", local_rank: "NCCL_LOCAL_RANK" },
  { rank: "PMIX_RANK" },
  // MPICH and Intel MPI, then Cray.
  {
    rank: "PMI_RANK",
    local_rank: "MPI_LOCALRANKID",
    world_size: "PMI_SIZE",
    local_world_size: "MPI_LOCALNRANKS",
  },
  { rank: "PMI_RANK", local_rank: "PMI_LOCAL_RANK", local_world_size: "PMI_LOCAL_SIZE" },
  {
    rank: "SLURM_PROCID",
    local_rank: "SLURM_LOCALID",
    world_size: "SLURM_NTASKS",
    local_world_size: "SLURM_NTASKS_PER_NODE",
  },
];

/** Variables that are the same for all launchers, and the tags that they become. */
const VARIABLES: Tags = {
  MASTER_ADDR: "distributed.master_addr",
  MASTER_PORT: "distributed.master_port",
  SLURM_JOB_ID: "slurm.job_id",
  SLURM_STEP_ID: "slurm.step_id",
  SLURM_PROCID: "slurm.proc_id",
  SLURM_LOCALID: "slurm.local_id",
  SLURM_NODEID: "slurm.node_id",
  SLURM_JOB_NUM_NODES: "slurm.node_count",
};

/** Variables that name a job, the widest first: Slurm, torchrun, the MPI launchers. */
const JOBS = ["SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"];

/** What torchrun calls a run for which the user has given no id. */
const UNNAMED = "none";

type Environment = Readonly<Record<string, string>>;

/** Tags of a process that a launcher has started: rank, sizes, addresses and `job`; others have none. */
export function rankTags(env: Environment): Tags {
  return {
    ...numbers(env),
    ...texts(Object.entries(VARIABLES).map(([name, tag]) => [tag, env[name]])),
    ...texts([["job", JOBS.map((name) => env[name]).find((id) => id && id !== UNNAMED)]]),
  };
}

/** The tags among {@linkcode rankTags} that tell the series of one process from those of another. */
export function seriesTags({ "process.rank": rank, "process.local_rank": local_rank }: Tags): Tags {
  return texts([["process.rank", rank], ["process.local_rank", local_rank]]);
}

/** The numbers of the nearest launcher, and of those that count the process alike. */
function numbers(env: Environment): Tags {
  const number = (name = "") => /^\d{1,9}$/.test(env[name] ?? "") ? env[name] : undefined;
  const [rank] = LAUNCHERS.flatMap(({ rank }) => number(rank) ?? []);
  const alike = LAUNCHERS.filter((launcher) => number(launcher.rank) === rank);
  const first = (key: keyof Launcher) => alike.flatMap((own) => number(own[key]) ?? [])[0];
  return texts([
    ["process.rank", rank],
    ["process.local_rank", first("local_rank")],
    ["process.world_size", first("world_size")],
    ["process.local_world_size", first("local_world_size")],
  ]);
}

function texts(entries: readonly [tag: string, value: string | undefined][]): Tags {
  return Object.fromEntries(
    entries.flatMap(([tag, value]) => value ? [[tag, value.slice(0, MAX_VALUE_LENGTH)]] : []),
  );
}
