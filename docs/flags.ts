/** Renders the table of flags in the README: `deno run -A docs/flags.ts` writes it there. */

import { LISTED } from "../local/launch/options.ts";

const README = new URL("../README.md", import.meta.url);

/** `text` with the table of all flags and variables in place of the one that it has. */
export function withFlagTable(text: string): string {
  return text.replace(/^\| Flag [^]*?\n(?=\n)/m, () => flagTable());
}

function flagTable(): string {
  const code = (text = "") => text && `\`${text.replaceAll("|", "\\|")}\``;
  const rows = LISTED.map(({ flag, variable, help }) => [code(flag), code(variable), help]);
  const header = ["Flag", "Environment", "Meaning"];
  const widths = header.map((_, i) => Math.max(...[header, ...rows].map((row) => row[i]!.length)));
  const lines = [header, widths.map((width) => "-".repeat(width)), ...rows];
  return lines.map((row) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |\n`)
    .join("");
}

if (import.meta.main) {
  await Deno.writeTextFile(README, withFlagTable(await Deno.readTextFile(README)));
}
