/** Operations of the operator: each row is a command, a route, and the description of both. */

import { object, type Shape } from "@service/core/schema";
import type { Service } from "../http/context.ts";
import type { Route } from "../http/route.ts";

/** The databases and the time of an operation. */
export type OperatedService = Pick<Service, "databases" | "now_ns">;

/** A value that an operation needs: a member of a JSON body, or a flag of a command. */
export interface Field<T> {
  shape: Shape<T>;
  isOptional: boolean;
  /** The flag; by default the field's name, with hyphens. */
  flag?: string;
  /** The flag's value in the usage. */
  placeholder: string;
  /**
   * Parses the text of a flag; by default the value is the text itself.
   *
   * @throws {RangeError} If the text is not valid; its message says the rule.
   */
  parse?: (text: string) => unknown;
}

/** A project or a key that an operation changes: named in the path, or on the command line. */
export interface Target {
  /** Name of the path's parameter. */
  name: string;
  description: string;
  /** Meaning of the answer 404. */
  missing: string;
  /** The flag that names it; absent: it is the command's operand. */
  flag?: string;
}

/** An operation, for the command line and for HTTP. */
export interface Operation {
  command: string;
  method: Route["method"];
  /** The path after `/api/v1/admin/`. */
  path: string;
  summary: string;
  description?: string;
  target?: Target;
  fields: Readonly<Record<string, Field<unknown>>>;
  /** Shape of a JSON body with the fields. */
  body: Shape<Record<string, unknown>>;
  answer: Shape<unknown>;
  /**
   * Executes the operation and returns its answer.
   *
   * @throws {Refusal} 404 if there is no such target.
   * @throws {RangeError} If it is not possible with these values.
   */
  run(service: OperatedService, input: Input<unknown>): Promise<unknown>;
  /**
   * Lines that the command prints.
   *
   * @throws {RangeError} If the command fails with this answer.
   */
  lines(answer: unknown, context: { input: Input<unknown>; now_ns: bigint }): string[];
}

/** The input of an operation: its target and its fields' values. */
export interface Input<Values> {
  /** Empty if there is none. */
  target: string;
  values: Values;
}

/** A row of the table of operations. */
export interface OperationOptions<Values, Answer>
  extends Pick<Operation, "command" | "method" | "path" | "summary" | "description" | "target"> {
  fields?: { readonly [Name in keyof Values]: Field<Values[Name]> };
  answer: Shape<Answer>;
  run(service: OperatedService, input: Input<Values>): Promise<NoInfer<Answer>>;
  lines?(answer: NoInfer<Answer>, context: { input: Input<Values>; now_ns: bigint }): string[];
}

/** The operation of a row. */
export function operation<Values extends object, Answer>(
  options: OperationOptions<Values, Answer>,
): Operation {
  const { fields = {}, lines = () => [], ...rest } = options;
  const all = Object.entries(fields as Operation["fields"]);
  const shapes = Object.fromEntries(all.map(([name, { shape }]) => [name, shape]));
  const optional = all.filter(([, { isOptional }]) => isOptional).map(([name]) => name);
  return {
    ...rest,
    lines,
    fields: fields as Operation["fields"],
    body: object<Record<string, unknown>>(shapes, optional as never[]),
  } as Operation;
}

/** A required field. */
export function field<T>(
  shape: Shape<T>,
  placeholder: string,
  rest: Partial<Field<T>> = {},
): Field<T> {
  return { shape, placeholder, isOptional: false, ...rest };
}

/** The same field, optional. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return { ...field, isOptional: true } as Field<T | undefined>;
}
