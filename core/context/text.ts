/** The context text: what a language model is given to decide what to change. The same data gives the same text. */

import { fenced } from "../quoted.ts";
import { aboutSection } from "./about.ts";
import { completenessSection } from "./completeness.ts";
import { descriptionsSection } from "./descriptions.ts";
import { devicesSection } from "./device_table.ts";
import { engineSection } from "./engines.ts";
import { errorsSection } from "./errors.ts";
import { findingsSection } from "./found.ts";
import { gpuTimeSection } from "./gpu_time.ts";
import { hostSection } from "./host.ts";
import { instructionsSection } from "./instructions.ts";
import { metricsSection } from "./metrics.ts";
import { pageOf } from "./page.ts";
import { DEFAULT_TOKENS } from "./parameters.ts";
import type { SectionText } from "./section_text.ts";
import { type Section, SECTIONS } from "./sections.ts";
import type { Subject } from "./subject.ts";

/** The size and the parts of a text. */
export interface TextOptions {
  /** Most tokens, as o200k_base counts them. */
  max_tokens?: number;
  /** Sections to give; all but `traces` if absent. */
  sections?: readonly Section[];
}

const MAKERS: Readonly<Record<Section, (subject: Subject) => SectionText>> = {
  about: aboutSection,
  findings: findingsSection,
  completeness: completenessSection,
  errors: errorsSection,
  gpu_time: gpuTimeSection,
  devices: devicesSection,
  engine: engineSection,
  host: hostSection,
  traces: () => ({
    section: "traces",
    title: "Traces",
    blocks: [{ lead: ["Request traces are not recorded by this version."], rows: [] }],
  }),
  metrics: metricsSection,
  descriptions: descriptionsSection,
  instructions: instructionsSection,
};

/** The text about a subject. */
export function contextText(subject: Subject, options: TextOptions = {}): string {
  const { max_tokens = DEFAULT_TOKENS, sections } = options;
  const wanted = sections ?? SECTIONS.filter((section) => section !== "traces");
  if (subject.instances.length === 0) return nothingMatched(subject, max_tokens);
  return pageOf(
    SECTIONS.filter((one) => wanted.includes(one)).map((one) => MAKERS[one](subject)),
    max_tokens,
  );
}

/** The text where no instance ran or none has the tags. */
function nothingMatched(subject: Subject, max_tokens: number): string {
  const tags = Object.entries(subject.tags).map(([name, value]) => `${name}:${value}`).join(";");
  const lead = [
    tags
      ? `Nothing matched: no instance with the tags ${fenced(tags)} ran in the span.`
      : "Nothing matched: no instance ran in the span.",
    "This says nothing about the workload. Ask for another span, or for tags that exist (below).",
  ];
  return pageOf([
    { section: "about", title: "What this is", blocks: [{ lead, rows: [], weight: 1000 }] },
    instructionsSection(subject),
  ], max_tokens);
}
