/** The identity of the resource that an instance is. */

import type { Tags } from "./tags.ts";

const RESOURCE_TAGS = ["project.name", "host.name", "container.id", "process.pid", "instance.id"];

/** Text that is the same for instances that are the same resource: `resource_id` is its hash. */
export function resourceIdentity(tags: Tags): string {
  return JSON.stringify(RESOURCE_TAGS.map((name) => tags[name] ?? null));
}
