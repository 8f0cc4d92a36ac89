/** Benchmark of the scanner for Prometheus pages. */

import { scan } from "../../local/sources/prometheus/exposition.ts";
import { medianMs, type Row } from "./row.ts";

/** Upper bounds of the buckets in vLLM's histograms of time. */
const BOUNDS = "0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1.0 2.5 5.0 7.5 10.0 +Inf"
  .split(" ");

/** Figures of the scanner. */
export async function benchExposition(): Promise<Row[]> {
  const page = samplePage(1e6);
  const megabytes = page.length / 1e6;
  const first = performance.now();
  scan(page);
  const firstMs = performance.now() - first;
  return [
    {
      what: "Prometheus scanner, page of 1 MB",
      figure: await medianMs(() => scan(page)) / megabytes,
      unit: "ms/MB",
      target: { atMost: 30 },
      comparison: {
        what: "String.split into lines and words",
        figure: await medianMs(() => page.split("\n").map((line) => line.split(" "))) / megabytes,
      },
    },
    {
      what: "Prometheus scanner, page of 1 MB, first scan",
      figure: firstMs / megabytes,
      unit: "ms/MB",
    },
  ];
}

/** A page as an engine writes it, of at least `bytes` bytes. */
function samplePage(bytes: number): string {
  let page = "";
  for (let family = 0; page.length < bytes; family++) {
    const name = `vllm:time_${family}_seconds`;
    page += `# HELP ${name} Histogram of a time in seconds.\n# TYPE ${name} histogram\n`;
    for (let engine = 0; engine < 4; engine++) {
      const labels = `engine="${engine}",model_name="Qwen/Qwen3-8B"`;
      BOUNDS.forEach((le, i) =>
        page += `${name}_bucket{${labels},le="${le}"} ${(i + family) * 41}.0\n`
      );
      page += `${name}_count{${labels}} 1697.0\n${name}_sum{${labels}} 84.63512998\n`;
    }
  }
  return page;
}
