/** Closed loop of requests: a fixed number in parallel, for a warm-up and for as long again. */

/** Rate and latency of the measured requests. */
export interface LoadResult {
  perSecond: number;
  /** 99th percentile of the latency, milliseconds. */
  p99_ms: number;
}

/** Sends requests, `parallel` at a time: `seconds` of warm-up, then `seconds` that count. */
export async function load(
  send: (i: number) => Promise<Response>,
  { parallel, seconds }: { parallel: number; seconds: number },
): Promise<LoadResult> {
  const took: number[] = [];
  const start = performance.now() + seconds * 1_000;
  const until = start + seconds * 1_000;
  let next = 0;
  async function loop(): Promise<void> {
    while (performance.now() < until) {
      const sent = performance.now();
      const response = await send(next++);
      const body = await response.bytes();
      if (!response.ok) throw new Error(`${response.status}: ${new TextDecoder().decode(body)}`);
      if (sent >= start) took.push(performance.now() - sent);
    }
  }
  await Promise.all(Array.from({ length: parallel }, loop));
  const elapsed = (performance.now() - start) / 1_000;
  took.sort((a, b) => a - b);
  return { perSecond: took.length / elapsed, p99_ms: took[Math.floor(took.length * 0.99)]! };
}
