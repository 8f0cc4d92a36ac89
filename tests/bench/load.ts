/** Closed loop of requests: a fixed number in parallel, for a warm-up and for as long again. */

/** Rate, latency and cost of the measured requests. */
export interface LoadResult {
  perSecond: number;
  /** 99th percentile of the latency, milliseconds. */
  p99_ms: number;
  /** CPU time of the server for each request, milliseconds. */
  cpu_ms: number;
}

/** How requests are sent. */
export interface LoadOptions {
  parallel: number;
  seconds: number;
  /** CPU seconds of the server so far. */
  cpu_s?: () => number;
}

/**
 * Sends requests, `parallel` at a time: `seconds` of warm-up, then `seconds` that count. `send` gets the
 * number of the loop, and that of the request in its loop.
 */
export async function load(
  send: (loop: number, i: number) => Promise<Response>,
  { parallel, seconds, cpu_s = () => NaN }: LoadOptions,
): Promise<LoadResult> {
  const took: number[] = [];
  const start = performance.now() + seconds * 1_000;
  const until = start + seconds * 1_000;
  let cpuBefore_s: number | undefined;
  async function run(loop: number): Promise<void> {
    for (let i = 0; performance.now() < until; i++) {
      const sent = performance.now();
      if (sent >= start) cpuBefore_s ??= cpu_s();
      const response = await send(loop, i);
      const body = await response.bytes();
      if (!response.ok) throw new Error(`${response.status}: ${new TextDecoder().decode(body)}`);
      if (sent >= start) took.push(performance.now() - sent);
    }
  }
  await Promise.all(Array.from({ length: parallel }, (_, loop) => run(loop)));
  const elapsed = (performance.now() - start) / 1_000;
  took.sort((a, b) => a - b);
  return {
    perSecond: took.length / elapsed,
    p99_ms: took[Math.floor(took.length * 0.99)]!,
    cpu_ms: (cpu_s() - (cpuBefore_s ?? NaN)) * 1_000 / took.length,
  };
}

/** Clock ticks in a second, in which Linux counts the time of processes. */
const TICKS = 100;

/** CPU seconds of a process so far; not a number where the system does not say. */
export function cpuSeconds(pid: number): number {
  if (Deno.build.os !== "linux") return NaN;
  const [, after = ""] = /^.*\) (.*)$/s.exec(Deno.readTextFileSync(`/proc/${pid}/stat`)) ?? [];
  const fields = after.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
