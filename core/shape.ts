/**
 * Shapes: one definition is both the check of an unknown value and its JSON Schema (draft 2020-12).
 * A check names the path of the first fault: `window.series[3].count must be …`.
 */

import { LAST_NS } from "./time.ts";
import type { Quantity } from "./sum.ts";
import type { Tags } from "./tags.ts";

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What a value must look like: a check that returns it typed, and the same as a JSON Schema. */
export interface Shape<T> {
  /** The shape as a JSON Schema. */
  readonly schema: JsonSchema;
  /**
   * The value, typed.
   *
   * @param path Where in the whole the value stands, for the message.
   * @throws {ShapeError} If the value does not look so.
   */
  check(value: unknown, path?: string): T;
}

/** Says where a value differs from its shape, and what must stand there. */
export class ShapeError extends TypeError {
  /** Name of the class. */
  override readonly name = "ShapeError";
  /** Where the fault lies, such as `window.series[3].count`. */
  readonly path: string;
  /** What must stand there and what does. */
  readonly fault: string;

  /** For the fault at `path`. */
  constructor(path: string, fault: string) {
    super(`Cannot accept ${path || "the value"}: ${fault}`);
    this.path = path;
    this.fault = fault;
  }
}

/** Bounds of a text. */
export interface TextOptions {
  /** Fewest characters; 0 when absent. */
  min?: number;
  /** Most characters; any number when absent. */
  max?: number;
  /** Without flags; must match from the start to the end. */
  pattern?: string;
}

/** A string. Lengths are in characters (Unicode code points), as JSON Schema counts them. */
export function text({ min = 0, max = Infinity, pattern }: TextOptions = {}): Shape<string> {
  const form = pattern === undefined ? undefined : new RegExp(`^(?:${pattern})$`, "u");
  return {
    schema: {
      type: "string",
      ...(min > 0 && { minLength: min }),
      ...(max < Infinity && { maxLength: max }),
      ...(pattern !== undefined && { pattern: `^(?:${pattern})$` }),
    },
    check(value, path = "") {
      if (typeof value !== "string") throw fault(path, "must be a string", value);
      const length = value.length > max || value.length < 2 * min
        ? codePoints(value)
        : value.length;
      if (length < min || length > max) {
        const bounds = max < Infinity ? `${min} to ${max}` : `at least ${min}`;
        throw new ShapeError(path, `must have ${bounds} characters: got ${length}`);
      }
      if (form && !form.test(value)) throw fault(path, `must match ${pattern}`, value);
      return value;
    },
  };
}

/** One of the given strings. */
export function oneOf<const T extends string>(...values: T[]): Shape<T> {
  const known = new Set<unknown>(values);
  return {
    schema: { enum: values },
    check(value, path = "") {
      if (!known.has(value)) throw fault(path, `must be one of ${values.join(", ")}`, value);
      return value as T;
    },
  };
}

/** `true` or `false`. */
export const flag: Shape<boolean> = {
  schema: { type: "boolean" },
  check(value, path = "") {
    if (typeof value !== "boolean") throw fault(path, "must be true or false", value);
    return value;
  },
};

/** A finite number within bounds. */
export function number(min: number, max: number): Shape<number> {
  return {
    schema: { type: "number", minimum: min, maximum: max },
    check(value, path = "") {
      const plain = typeof value === "bigint" ? Number(value) : value;
      if (typeof plain !== "number" || !(plain >= min && plain <= max)) {
        throw fault(path, `must be a number from ${min} to ${max}`, value);
      }
      return plain;
    },
  };
}

/** A whole number within bounds that a double holds exactly. */
export function whole(min: number, max: number = Number.MAX_SAFE_INTEGER): Shape<number> {
  return {
    schema: { type: "integer", minimum: min, maximum: max },
    check(value, path = "") {
      if (!Number.isInteger(value) || !(value as number >= min && value as number <= max)) {
        throw fault(path, `must be a whole number from ${min} to ${max}`, value);
      }
      return value as number;
    },
  };
}

/** A number up to a magnitude, with every digit where it is an integer. */
export function quantityUpTo(magnitude: number): Shape<Quantity> {
  const plain = number(-magnitude, magnitude);
  return {
    schema: plain.schema,
    check(value, path = "") {
      const checked = plain.check(value, path);
      return typeof value === "bigint" ? value : checked;
    },
  };
}

/** Epoch nanoseconds: a `bigint` here, an integer of up to 64 bits on the wire. */
export const nanoseconds: Shape<bigint> = {
  schema: { type: "integer", minimum: 0, maximum: Number(LAST_NS) },
  check(value, path = "") {
    if (typeof value !== "bigint" || value < 0n || value > LAST_NS) {
      throw fault(path, `must be whole epoch nanoseconds from 0 to ${LAST_NS}`, value);
    }
    return value;
  },
};

/** What the given shape says, or `null`. */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    schema: { anyOf: [shape.schema, { type: "null" }] },
    check: (value, path = "") => value === null ? null : shape.check(value, path),
  };
}

/** Bounds of a list. */
export interface ListOptions {
  /** Fewest items; 0 when absent. */
  min?: number;
  /** Most items; any number when absent. */
  max?: number;
}

/** A list of items of one shape. */
export function list<T>(item: Shape<T>, { min = 0, max = Infinity }: ListOptions = {}): Shape<T[]> {
  return {
    schema: {
      type: "array",
      items: item.schema,
      ...(min > 0 && { minItems: min }),
      ...(max < Infinity && { maxItems: max }),
    },
    check(value, path = "") {
      if (!Array.isArray(value)) throw fault(path, "must be an array", value);
      if (value.length < min || value.length > max) {
        const bounds = max < Infinity ? `${min} to ${max}` : `at least ${min}`;
        throw new ShapeError(path, `must have ${bounds} items: got ${value.length}`);
      }
      return value.map((element, i) => item.check(element, `${path}[${i}]`));
    },
  };
}

/** String to string, such as tags. */
export function tagsOf(key: Shape<string>, value: Shape<string>, max: number): Shape<Tags> {
  return {
    schema: {
      type: "object",
      propertyNames: key.schema,
      additionalProperties: value.schema,
      maxProperties: max,
    },
    check(given, path = "") {
      const entries = Object.entries(plainObject(given, path));
      if (entries.length > max) {
        throw new ShapeError(path, `must have at most ${max} entries: got ${entries.length}`);
      }
      for (const [name, tag] of entries) {
        key.check(name, path === "" ? "a key" : `${path} (a key)`);
        value.check(tag, at(path, name));
      }
      return given as Tags;
    },
  };
}

/** The shape of each field, whether it must be there or not. */
export type Fields<T> = { [K in keyof T]-?: Shape<Exclude<T[K], undefined>> };

/** The fields that may be absent. */
export type Optional<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** An object with these fields and no others; those named `optional` may be absent. */
export function object<T extends object>(
  fields: Fields<T>,
  optional: Optional<T>[] = [],
): Shape<T> {
  const shapes = Object.entries(fields) as [string, Shape<unknown>][];
  const known = new Set(Object.keys(fields));
  const free = new Set<unknown>(optional);
  const required = shapes.map(([name]) => name).filter((name) => !free.has(name));
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(shapes.map(([name, { schema }]) => [name, schema])),
      required,
      additionalProperties: false,
    },
    check(value, path = "") {
      const given = plainObject(value, path);
      for (const name in given) {
        if (!known.has(name)) throw new ShapeError(at(path, name), "is not a field known here");
      }
      const checked: Record<string, unknown> = {};
      for (const [name, shape] of shapes) {
        if (Object.hasOwn(given, name)) checked[name] = shape.check(given[name], at(path, name));
        else if (!free.has(name)) throw new ShapeError(at(path, name), "is missing");
      }
      return checked as T;
    },
  };
}

/** One of several objects, told apart by the string in the field `tag`. */
export function variants<T>(tag: string, shapes: Record<string, Shape<T>>): Shape<T> {
  const known = oneOf(...Object.keys(shapes));
  return {
    schema: { oneOf: Object.values(shapes).map(({ schema }) => schema) },
    check(value, path = "") {
      const variant = known.check(plainObject(value, path)[tag], at(path, tag));
      return shapes[variant]!.check(value, path);
    },
  };
}

/** What another shape says, made into a value of its own; `make` may find further faults. */
export function mapped<A, B>(shape: Shape<A>, make: (value: A, path: string) => B): Shape<B> {
  return {
    schema: shape.schema,
    check: (value, path = "") => make(shape.check(value, path), path),
  };
}

/** The path of the field `name` of what stands at `path`. */
export function at(path: string, name: string): string {
  const field = /^[\w.-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80));
  return path === "" ? field : `${path}.${field}`;
}

function plainObject(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw fault(path, "must be an object", value);
  }
  return value as Record<string, unknown>;
}

function codePoints(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function fault(path: string, rule: string, value: unknown): ShapeError {
  return new ShapeError(path, `${rule}: got ${describe(value)}`);
}

function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 60));
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value).slice(0, 60);
}
