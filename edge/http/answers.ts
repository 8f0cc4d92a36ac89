/** Answers of routes, described: to the API's document and to the handlers' types. */

import type { Shape } from "@service/core";
import { problem } from "@service/core/payload_schema";
import type { Problem } from "@service/core/payload";

/** One answer of a route: its meaning and its content. */
export interface Answer<Value = unknown> {
  description: string;
  /** Without one the answer has no body. */
  content?: Content<Value>;
}

/** The body of an answer. */
export interface Content<Value> {
  /** Media type. */
  type: string;
  shape: Shape<Value>;
  /** Name of the shape in the document; without one it stands where it is used. */
  name?: string;
  example?: unknown;
}

/** How a body stands in the document. */
export interface ContentOptions {
  /** Name of its shape there. */
  name?: string;
  example?: unknown;
}

/** An answer in JSON. */
export function json<Value>(
  shape: Shape<Value>,
  description: string,
  options: ContentOptions = {},
): Answer<Value> {
  return { description, content: { type: "application/json", shape, ...options } };
}

/** An answer that is a problem document. */
export function refusal(description: string): Answer<Problem> {
  const content = { type: "application/problem+json", shape: problem, name: "Problem" };
  return { description, content };
}

/** A query that cannot be read. */
export const BAD_QUERY: Answer = refusal("A parameter is missing, not known, or cannot be read.");
/** A body that cannot be read. */
export const BAD_BODY: Answer = refusal("The body is wrong: errors names the path in it.");
/** A body past its limit. */
export const TOO_LARGE: Answer = refusal("The body is too large.");
/** No valid key. */
export const NO_KEY: Answer = refusal("X-API-Key is missing or not valid.");
/** A key without the scope. */
export const NO_SCOPE: Answer = refusal(
  "The key does not allow this: errors names the scope that it lacks.",
);
/** A key that is used too often. */
export const TOO_OFTEN: Answer = refusal(
  "The key was used too often: Retry-After says how many seconds to wait.",
);
/** No valid token of the operator. */
export const NO_TOKEN: Answer = refusal(
  "Authorization is not Bearer and the service's admin token.",
);
/** The same, of a hidden route. */
export const HIDDEN: Answer = refusal(
  "The token is wrong; answered as a path that does not exist.",
);
/** A failure that passes. */
export const UNAVAILABLE: Answer = refusal(
  "The database does not answer, or the project is being moved: Retry-After says how many seconds " +
    "to wait.",
);
/** A failure of the service. */
export const FAILED: Answer = refusal(
  "The service failed; the document says under which id its log knows more.",
);
