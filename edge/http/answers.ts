/** Descriptions of answers, for the API's document and for the types of handlers. */

import type { Shape } from "@service/core";
import { problem } from "@service/core/payload_schema";
import type { Problem } from "@service/core/payload";

/** One answer of a route. */
export interface Answer<Value = unknown> {
  description: string;
  /** Absent: the answer has no body. */
  content?: Content<Value>;
}

/** The body of an answer. */
export interface Content<Value> {
  /** Media type. */
  type: string;
  shape: Shape<Value>;
  /** Name of the shape among the document's schemas; absent: the shape is written in place. */
  name?: string;
  example?: unknown;
  /** Media type of the same as a text, for who accepts that. */
  textType?: string;
}

/** How the document shows a body. */
export type ContentOptions = Pick<Content<unknown>, "name" | "example" | "textType">;

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

/** 400 for a query. */
export const BAD_QUERY: Answer = refusal("A parameter is missing, not known, or cannot be read.");
/** 400 for a body. */
export const BAD_BODY: Answer = refusal("The body is wrong: errors names the path in it.");
/** 413. */
export const TOO_LARGE: Answer = refusal("The body is too large.");
/** 415. */
export const BAD_TYPE: Answer = refusal(
  "The service does not read bodies of this type: errors names the header.",
);
/** 401 where a key is needed. */
export const NO_KEY: Answer = refusal("X-API-Key is missing or not valid.");
/** 403. */
export const NO_SCOPE: Answer = refusal(
  "The key does not allow this: errors names the scope that it lacks.",
);
/** 429. */
export const TOO_OFTEN: Answer = refusal(
  "The key was used too often: Retry-After says how many seconds to wait.",
);
/** 401 where the operator's token is needed. */
export const NO_TOKEN: Answer = refusal(
  "Authorization is not Bearer and the service's admin token.",
);
/** 404 where the operator's token is needed for a hidden route. */
export const HIDDEN: Answer = refusal(
  "The token is wrong; answered as a path that does not exist.",
);
/** 503. */
export const UNAVAILABLE: Answer = refusal(
  "The database does not answer, or the project is being moved: Retry-After says how many seconds " +
    "to wait.",
);
/** 500. */
export const FAILED: Answer = refusal(
  "The service failed; the document says under which id its log knows more.",
);
