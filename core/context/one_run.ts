/** The context of one run: from its steps to the text and the findings. */

import { type InstanceFacts, instanceFacts, type InstanceRead } from "../facts/mod.ts";
import { type Findings, findings } from "../findings/mod.ts";
import type { Subject } from "./subject.ts";

/** One run, read, and how it was asked for. */
export interface RunContextOptions extends InstanceRead {
  /** The name of the window, as it was asked for. */
  window?: string;
  /** Where the run answers; `null` where it is read by a command. */
  base_url: string | null;
}

/** What is said of one run. */
export interface RunContext {
  /** What the text is about. */
  subject: Subject;
  /** The facts. */
  facts: InstanceFacts;
  /** What was found. */
  findings: Findings;
}

/** The context of one run. */
export function runContext({ window, base_url, ...read }: RunContextOptions): RunContext {
  const facts = instanceFacts(read);
  const found = findings([facts]);
  const tags = Object.entries(read.instance.tags).map(([name, value]) => [name, [value]] as const);
  const subject: Subject = {
    instances: [facts],
    findings: found,
    asked: read.asked,
    window,
    matched: 1,
    tags: {},
    available_tags: new Map(tags),
    base_url,
    is_local: true,
  };
  return { subject, facts, findings: found };
}
