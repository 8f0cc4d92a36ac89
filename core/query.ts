/** Query parameters of both `/signals` endpoints: their parsers and their descriptions. */

import { type Faults, refuse } from "./problem.ts";
import type { JsonSchema } from "./schema.ts";
import type { Selection } from "./selection.ts";
import { LAST_NS, nsFromSeconds } from "./time.ts";

/** A query parameter: its parser and its description. */
export interface Parameter<T> {
  /**
   * Parses the texts that a query has for the parameter, in their order.
   *
   * @throws {RangeError} If they are not valid; its message says the rule.
   */
  read(texts: string[]): T;
  /** Whether a query must have it. */
  required: boolean;
  /** One or two sentences for the API's description. */
  description: string;
  /** Schema of the value in the query; an array is one comma-separated text. */
  schema: JsonSchema;
}

/** The parameters of one path, by name. */
export type QueryParameters<T> = { readonly [Name in keyof T]: Parameter<T[Name]> };

/** Format of a parameter: the parser of one text, and its schema. */
export interface Format<T> {
  /**
   * Parses a text.
   *
   * @throws {RangeError} If the text is not valid; its message says the rule.
   */
  parse(text: string): T;
  /** Schema of the value in the query. */
  schema: JsonSchema;
}

/** Status of the refusal of a query. */
export type BadQueryStatus = 400 | 422;

/**
 * Reads the parameters of a query.
 *
 * @throws {Refusal} With `status`, 400 if absent, that names each parameter at fault.
 */
export function readQuery<T extends object>(
  query: URLSearchParams,
  parameters: QueryParameters<T>,
  { status = 400 }: { status?: BadQueryStatus } = {},
): T {
  const errors: Faults = [];
  const known = Object.keys(parameters);
  for (const name of new Set(query.keys())) {
    if (known.includes(name)) continue;
    const list = known.length > 0 ? `known are ${known.join(", ")}` : "this path takes none";
    errors.push({ parameter: name, message: `is not known here: ${list}` });
  }
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries<Parameter<unknown>>(parameters)) {
    try {
      values[name] = parameter.read(query.getAll(name));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      errors.push({ parameter: name, message: error.message });
    }
  }
  if (errors.length > 0) {
    const faults = errors.map(({ parameter, message }) => `${parameter.slice(0, 80)} ${message}`);
    throw refuse(status, `Cannot read the query: ${faults.join("; ")}`, errors);
  }
  return values as T;
}

/** A parameter that must be given, once. */
export function required<T>({ parse, schema }: Format<T>, description: string): Parameter<T> {
  return {
    read(texts) {
      if (texts.length === 0) throw new RangeError("is missing");
      return parse(only(texts));
    },
    required: true,
    description,
    schema,
  };
}

/** A parameter that may be given, once. */
export function optional<T>(
  { parse, schema }: Format<T>,
  description: string,
): Parameter<T | undefined> {
  return {
    read: (texts) => texts.length === 0 ? undefined : parse(only(texts)),
    required: false,
    description,
    schema,
  };
}

/** Epoch nanoseconds in decimal digits. */
export const nanoseconds: Format<bigint> = {
  parse(text) {
    const ns = /^\d{1,19}$/.test(text) ? BigInt(text) : -1n;
    if (ns >= 0n && ns <= LAST_NS) return ns;
    throw new RangeError(
      `must be epoch nanoseconds, a whole number from 0 to ${LAST_NS}` +
        `: got ${JSON.stringify(text.slice(0, 40))}`,
    );
  },
  schema: { type: "integer", minimum: 0 },
};

/** Epoch seconds, as epoch nanoseconds. */
export const seconds: Format<bigint> = {
  parse: (text) => nsFromSeconds(text),
  schema: { type: "number", minimum: 0 },
};

/** Seconds, as nanoseconds: a length of time. */
export const duration: Format<bigint> = {
  parse: (text) => nsFromSeconds(text, "seconds"),
  schema: seconds.schema,
};

/** Seconds, more than 0, as nanoseconds: the length of steps. */
export const step: Format<bigint> = {
  parse(text) {
    const step_ns = duration.parse(text);
    if (step_ns === 0n) throw new RangeError("must be more than 0");
    return step_ns;
  },
  schema: { type: "number", exclusiveMinimum: 0 },
};

/** Any text but the empty one. */
export const someText: Format<string> = {
  parse(text) {
    if (text === "") throw new RangeError("must not be empty");
    return text;
  },
  schema: { type: "string", minLength: 1 },
};

/** Comma-separated names. */
export const names: Format<string[]> = {
  parse(text) {
    const list = text.split(",").map((name) => name.trim());
    if (list.includes("")) throw new RangeError("must be names with one comma between them");
    return list;
  },
  schema: { type: "array", items: { type: "string", minLength: 1 } },
};

/** A whole number from 1. */
export const countFromOne: Format<number> = {
  parse(text) {
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    throw new RangeError(
      `must be a whole number from 1: got ${JSON.stringify(text.slice(0, 40))}`,
    );
  },
  schema: { type: "integer", minimum: 1, maximum: 999_999_999 },
};

/** Parameters of `/signals` that select part of the metrics. */
export const selectionParameters: { [Name in keyof Selection]-?: Parameter<Selection[Name]> } = {
  metrics: optional(
    names,
    "Comma-separated metric names; a name that ends in * selects by prefix. Default: all.",
  ),
  top: optional(
    countFromOne,
    "Frames of each profile, largest first; the frame (not shown) is the sum of the rest, and " +
      "stands where its value puts it. Default: all.",
  ),
};

function only(texts: string[]): string {
  if (texts.length > 1) throw new RangeError(`must be given once: got ${texts.length}`);
  return texts[0]!;
}
