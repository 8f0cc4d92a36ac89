/** Benchmark of the local endpoint under load. */

import { load } from "./load.ts";
import type { Row } from "./row.ts";
import { command } from "../command.ts";

const LOAD = { parallel: 8, seconds: 3 };

/** Figures of `GET /signals`, for a small payload and for one of 750 kB. */
export async function benchEndpoint(): Promise<Row[]> {
  return [...await benchSize(100), ...await benchSize(4_600)];
}

async function benchSize(seriesCount: number): Promise<Row[]> {
  const program = new URL("endpoint_server.ts", import.meta.url).pathname;
  const server = command([Deno.execPath(), "run", "-A", program, `${seriesCount}`], {
    stdout: "piped",
  }).spawn();
  const { value } = await server.stdout.getReader().read();
  const [url, bytes] = new TextDecoder().decode(value).trim().split(" ");
  const size = `${seriesCount} series, ${Math.round(Number(bytes) / 1e3)} kB`;
  try {
    const plain = await load(() => fetch(`${url}/plain`), LOAD);
    const signals = await load(() => fetch(`${url}/signals`), LOAD);
    const comparison = "same bytes from a bare Deno.serve";
    return [
      {
        what: `GET /signals, ${size}`,
        figure: signals.perSecond,
        unit: "1/s",
        comparison: { what: comparison, figure: plain.perSecond },
      },
      {
        what: `GET /signals, ${size}, p99`,
        figure: signals.p99_ms,
        unit: "ms",
        comparison: { what: comparison, figure: plain.p99_ms },
      },
    ];
  } finally {
    server.kill();
    await server.status;
  }
}
