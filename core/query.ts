/** Query parameters, read one by one: what both `/signals` endpoints take and refuse alike. */

import { type Faults, refuse } from "./problem.ts";
import type { Selection } from "./snapshot.ts";
import { nsFromSeconds } from "./time.ts";

/** How one parameter is read from the texts that the query gives for it. */
export type Parameter<T> = (given: string[]) => T;

/**
 * The query's parameters, read.
 *
 * @throws {Refusal} 400 that names each parameter at fault.
 */
export function readQuery<T extends object>(
  query: URLSearchParams,
  parameters: { [Name in keyof T]: Parameter<T[Name]> },
): T {
  const errors: Faults = [];
  const known = Object.keys(parameters);
  for (const name of new Set(query.keys())) {
    if (known.includes(name)) continue;
    const list = known.length > 0 ? `known are ${known.join(", ")}` : "this path takes none";
    errors.push({ parameter: name, message: `is not known here: ${list}` });
  }
  const values: Record<string, unknown> = {};
  for (const [name, read] of Object.entries<Parameter<unknown>>(parameters)) {
    try {
      values[name] = read(query.getAll(name));
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

/** Parameters with which a read of `/signals` asks for part of the metrics. */
export const selectionParameters: { [Name in keyof Selection]-?: Parameter<Selection[Name]> } = {
  metrics: optional(names),
  top: optional(countFromOne),
};

/** A parameter that must be given, once. */
export function required<T>(read: (text: string) => T): Parameter<T> {
  return (given) => {
    if (given.length === 0) throw new RangeError("is missing");
    return read(only(given));
  };
}

/** A parameter that may be given, once. */
export function optional<T>(read: (text: string) => T): Parameter<T | undefined> {
  return (given) => given.length === 0 ? undefined : read(only(given));
}

/** Epoch seconds, as epoch nanoseconds. */
export function seconds(text: string): bigint {
  return nsFromSeconds(text);
}

/** Any text but the empty one. */
export function someText(text: string): string {
  if (text === "") throw new RangeError("must not be empty");
  return text;
}

/** Names with commas between them. */
export function names(text: string): string[] {
  const given = text.split(",").map((name) => name.trim());
  if (given.includes("")) throw new RangeError("must be names with one comma between them");
  return given;
}

/** A whole number from 1. */
export function countFromOne(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new RangeError(
      `must be a whole number from 1: got ${JSON.stringify(text.slice(0, 40))}`,
    );
  }
  return Number(text);
}

function only(given: string[]): string {
  if (given.length > 1) throw new RangeError(`must be given once: got ${given.length}`);
  return given[0]!;
}
