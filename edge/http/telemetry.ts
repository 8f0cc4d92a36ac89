/** The service's own counters, as Prometheus text. */

/** Upper bounds of the latency histogram, seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The outcome of an upload. */
export type WindowOutcome = "stored" | "duplicate" | "refused";

/** Counters of this process. */
export class Metrics {
  /** Windows by outcome. */
  readonly windows: Record<WindowOutcome, number> = { stored: 0, duplicate: 0, refused: 0 };
  /** Failures of databases, by whether the statement was tried again. */
  readonly failures: Record<"retried" | "failed", number> = { retried: 0, failed: 0 };
  /** Rows read from databases. */
  rows = 0;
  /** Rows that could not be read, each time. */
  damagedRows = 0;
  readonly #requests = new Map<string, number>();
  readonly #latencies = new Map<string, { buckets: number[]; sum: number; count: number }>();

  /** Counts an answer. */
  answered(route: string, status: number, seconds: number): void {
    const labels = `route="${route}",status="${status}"`;
    this.#requests.set(labels, (this.#requests.get(labels) ?? 0) + 1);
    let latency = this.#latencies.get(route);
    if (!latency) {
      latency = { buckets: BOUNDS.map(() => 0), sum: 0, count: 0 };
      this.#latencies.set(route, latency);
    }
    for (const [i, bound] of BOUNDS.entries()) if (seconds <= bound) latency.buckets[i]!++;
    latency.sum += seconds;
    latency.count++;
  }

  /** The exposition, with the number of writes that wait now. */
  text(waitingWrites: number): string {
    return [
      ...family("requests_total", "counter", "Requests answered.", this.#requests),
      ...this.#histogram(),
      ...family("windows_total", "counter", "Windows uploaded.", labelled("outcome", this.windows)),
      ...family(
        "rows_read_total",
        "counter",
        "Rows read from databases.",
        new Map([["", this.rows]]),
      ),
      ...family(
        "damaged_rows_total",
        "counter",
        "Rows of windows and blocks that could not be read, each time.",
        new Map([["", this.damagedRows]]),
      ),
      ...family(
        "write_queue_depth",
        "gauge",
        "Writes waiting in queues.",
        new Map([["", waitingWrites]]),
      ),
      ...family(
        "database_errors_total",
        "counter",
        "Failures of databases, by whether the statement was tried again.",
        labelled("outcome", this.failures),
      ),
      "",
    ].join("\n");
  }

  #histogram(): string[] {
    const name = "service_request_seconds";
    const lines = [`# HELP ${name} Time to an answer.`, `# TYPE ${name} histogram`];
    for (const [route, { buckets, sum, count }] of this.#latencies) {
      for (const [i, bound] of BOUNDS.entries()) {
        lines.push(`${name}_bucket{route="${route}",le="${bound}"} ${buckets[i]}`);
      }
      lines.push(
        `${name}_bucket{route="${route}",le="+Inf"} ${count}`,
        `${name}_sum{route="${route}"} ${sum}`,
        `${name}_count{route="${route}"} ${count}`,
      );
    }
    return lines;
  }
}

function labelled(label: string, counts: Record<string, number>): Map<string, number> {
  return new Map(Object.entries(counts).map(([value, n]) => [`${label}="${value}"`, n]));
}

function family(name: string, type: string, help: string, samples: Map<string, number>): string[] {
  const full = `service_${name}`;
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} ${type}`,
    ...[...samples].map(([labels, n]) => `${full}${labels && `{${labels}}`} ${n}`),
  ];
}
