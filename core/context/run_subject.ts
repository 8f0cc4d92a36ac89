/** The subject of one run: what its steps say, and what was found of it. */

import { instanceFacts, type InstanceRead } from "../facts/mod.ts";
import { findings } from "../findings/mod.ts";
import type { Subject } from "./subject.ts";

/** One run, read, and how it was asked for. */
export interface RunSubjectOptions extends InstanceRead {
  /** The name of the window, as it was asked for. */
  window?: string;
  /** Where the run answers; `null` where it is read by a command. */
  base_url: string | null;
}

/** What is known of one run. */
export function runSubject({ window, base_url, ...read }: RunSubjectOptions): Subject {
  const facts = instanceFacts(read);
  const tags = Object.entries(read.instance.tags).map(([name, value]) => [name, [value]] as const);
  return {
    instances: [facts],
    findings: findings([facts]),
    asked: read.asked,
    window,
    matched: 1,
    tags: {},
    available_tags: new Map(tags),
    base_url,
    is_local: true,
  };
}
