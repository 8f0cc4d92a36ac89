/** Renders the catalogue as `docs/metrics.md`: `deno run -A docs/metrics.ts` writes it. */

import { catalogue, type CatalogueEntry } from "@service/core";

const PAGE = new URL("metrics.md", import.meta.url);

/** The text of `docs/metrics.md`. */
export function metricsPage(): string {
  const sections = catalogue.map(section).join("\n");
  return `# Metrics

Every metric that the service itself defines, from the catalogue in \`core/\`
(\`import { catalogue, describe } from "@service/run"\`).

${sections}`;
}

function section({ name, type, unit, tags, meaning, read, act }: CatalogueEntry): string {
  const facts = [type, unit, tags.length > 0 && tags.map((tag) => `\`${tag}\``).join(", ")];
  return `## \`${name}\`

${facts.filter(Boolean).join(" · ")}

${meaning}

- How to read it: ${read}
- What to do: ${act}
`;
}

if (import.meta.main) await Deno.writeTextFile(PAGE, metricsPage());
