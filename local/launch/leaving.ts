/** Leaving of a watcher that is still starting when its workload has ended: where it may finish alone. */

/** Variables of places that end the processes which a command leaves behind. */
const ENDS_WITH_COMMAND = ["CI", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"];

/** The file that the user asked for: it is there when the command is over. */
const ASKED_FOR = "SERVICE_SNAPSHOT_FILE";

/**
 * Whether the watcher may finish after the end of the command. With process 1 of a container its other
 * processes end, and a service manager ends those of its services: nothing is left to them.
 */
export function mayLeave(
  { env, ppid }: { env: Readonly<Record<string, string>>; ppid: number },
): boolean {
  return ppid > 1 && [...ENDS_WITH_COMMAND, ASKED_FOR].every((name) => !env[name]);
}
