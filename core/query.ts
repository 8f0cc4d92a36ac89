/** Query parameters: how each is read, and its description. Both `/signals` endpoints use them. */

import { type Faults, refuse } from "./problem.ts";
import type { JsonSchema } from "./schema.ts";
import type { Selection } from "./snapshot.ts";
import { nsFromSeconds } from "./time.ts";

/** A query parameter: how it is read, and its description. */
export interface Parameter<T> {
  /**
   * The value of the texts that a query gives for the parameter, in their order.
   *
   * @throws {RangeError} If they cannot be read; its message says what they must be.
   */
  read(given: string[]): T;
  /** Whether a query must have it. */
  required: boolean;
  /** One or two sentences for the API's description. */
  description: string;
  /** Schema of the value as the query has it; an array is one text, with commas between its items. */
  schema: JsonSchema;
}

/** The parameters of one path, by name. */
export type QueryParameters<T> = { readonly [Name in keyof T]: Parameter<T[Name]> };

/** How one text of a query is read, and which texts can be. */
export interface Format<T> {
  /**
   * The value that a text stands for.
   *
   * @throws {RangeError} If it stands for none; its message says what it must be.
   */
  parse(text: string): T;
  /** Schema of the value as the query has it. */
  schema: JsonSchema;
}

/**
 * The query's parameters, read.
 *
 * @throws {Refusal} 400 that names each parameter at fault.
 */
export function readQuery<T extends object>(
  query: URLSearchParams,
  parameters: QueryParameters<T>,
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
    throw refuse(400, `Cannot read the query: ${faults.join("; ")}`, errors);
  }
  return values as T;
}

/** A parameter that must be given, once. */
export function required<T>({ parse, schema }: Format<T>, description: string): Parameter<T> {
  return {
    read(given) {
      if (given.length === 0) throw new RangeError("is missing");
      return parse(only(given));
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
    read: (given) => given.length === 0 ? undefined : parse(only(given)),
    required: false,
    description,
    schema,
  };
}

/** Epoch seconds, as epoch nanoseconds. */
export const seconds: Format<bigint> = {
  parse: (text) => nsFromSeconds(text),
  schema: { type: "number", minimum: 0 },
};

/** Any text but the empty one. */
export const someText: Format<string> = {
  parse(text) {
    if (text === "") throw new RangeError("must not be empty");
    return text;
  },
  schema: { type: "string", minLength: 1 },
};

/** Names with commas between them. */
export const names: Format<string[]> = {
  parse(text) {
    const given = text.split(",").map((name) => name.trim());
    if (given.includes("")) throw new RangeError("must be names with one comma between them");
    return given;
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

/** Parameters with which a read of `/signals` asks for part of the metrics. */
export const selectionParameters: { [Name in keyof Selection]-?: Parameter<Selection[Name]> } = {
  metrics: optional(
    names,
    "Metric names with commas between them; a name that ends in * stands for all names that start " +
      "so. Default: all.",
  ),
  top: optional(countFromOne, "Frames of each profile, largest first. Default: all."),
};

function only(given: string[]): string {
  if (given.length > 1) throw new RangeError(`must be given once: got ${given.length}`);
  return given[0]!;
}
