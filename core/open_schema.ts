/** Open shapes: they ignore members of objects that they do not know, where others refuse these. */

import { Ignored } from "./ignored.ts";
import type { JsonSchema, Shape } from "./schema.ts";

/** The shape with open objects at every level: they ignore members that they do not know. */
export function open<T>(shape: Shape<T>): Shape<T> {
  return {
    schema: openSchema(shape.schema) as JsonSchema,
    check: (value, ignored = new Ignored()) => shape.check(value, ignored),
  };
}

function openSchema(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(openSchema);
  if (typeof part !== "object" || part === null) return part;
  const rules = Object.entries(part)
    .filter(([keyword, rule]) => keyword !== "additionalProperties" || rule !== false);
  return Object.fromEntries(rules.map(([keyword, rule]) => [keyword, openSchema(rule)]));
}
