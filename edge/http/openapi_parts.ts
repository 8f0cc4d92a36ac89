/** Parts that descriptions of routes share. */

import type { JsonSchema } from "@service/core";

/** One answer of a route. */
export interface Answer {
  description: string;
  headers: JsonSchema;
  content: Record<string, { schema: JsonSchema; example?: unknown }>;
}

/** Headers of every answer. */
export const HEADERS: JsonSchema = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };

/** A query that cannot be read. */
export const BAD_QUERY: Answer = refusal("A parameter is missing, not known, or cannot be read.");
/** No valid key. */
export const NO_KEY: Answer = refusal("X-API-Key holds no valid key.");
/** A key that does not allow this. */
export const NO_SCOPE: Answer = refusal(
  "The key does not allow this: errors names the scope that it lacks.",
);
/** A key that is used too often. */
export const TOO_OFTEN: Answer = refusal(
  "The key was used too often: Retry-After says how many seconds to wait.",
);
/** What passes. */
export const UNAVAILABLE: Answer = refusal(
  "The database does not answer, or the project is being moved: Retry-After says how many seconds " +
    "to wait.",
);
/** A failure of the service. */
export const FAILED: Answer = refusal(
  "The service failed; the document says under which id its log knows more.",
);

/** A parameter of a query. */
export function parameter(
  name: string,
  schema: JsonSchema,
  rest: { description: string } & JsonSchema,
) {
  return { name, in: "query", ...rest, schema };
}

/** A shape of the document. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An answer in JSON. */
export function json(
  description: string,
  content: { schema: JsonSchema; example?: unknown },
): Answer {
  return { description, headers: HEADERS, content: { "application/json": content } };
}

/** An answer that is a problem document. */
export function refusal(description: string): Answer {
  const content = { "application/problem+json": { schema: ref("Problem") } };
  return { description, headers: HEADERS, content };
}
