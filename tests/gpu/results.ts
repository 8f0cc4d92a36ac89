/** Page of the results, with the machine on which they were measured. */

import type { Finding } from "./finding.ts";

/** Machine and versions of a run. */
export interface Machine {
  device: string;
  driver: string;
  cuda: string;
  cores: number;
  kernel: string;
  deno: string;
  date: string;
}

/** The page in Markdown. */
export function page(machine: Machine, findings: Finding[]): string {
  const { device, driver, cuda, cores, kernel, deno, date } = machine;
  return `# Results on a GPU

\`deno task test:gpu\` measures these where there is an NVIDIA GPU, and rewrites this page. The figures
below are of one run on ${date}: ${device}, driver ${driver} (CUDA ${cuda}), ${cores} cores, Linux
${kernel}, Deno ${deno}.

| check | result | expected | holds |
| ----- | ------ | -------- | ----- |
${findings.map(row).join("\n")}
`;
}

function row({ what, found, expected = "", holds }: Finding): string {
  const cells = [what, found, expected, holds === undefined ? "" : holds ? "yes" : "no"];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
