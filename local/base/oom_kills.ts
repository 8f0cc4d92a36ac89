/** The kernel's count of processes that its out-of-memory killer ended. */

/**
 * How many processes of this machine were ended for want of memory since it started, those that only
 * reached the limit of their container included; `null` where the kernel does not say.
 */
export function oomKills(proc = "/proc"): number | null {
  try {
    const count = /^oom_kill (\d+)$/m.exec(Deno.readTextFileSync(`${proc}/vmstat`))?.[1];
    return count === undefined ? null : Number(count);
  } catch {
    return null;
  }
}
