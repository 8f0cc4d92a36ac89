/**
 * Shapes: one definition is both the check of an unknown value and its JSON Schema (draft 2020-12).
 * A check names the path of the first fault: `window.series[3].count must be …`.
 */

import { type Ignored, knownMembers } from "./ignored.ts";
import { fault, field, ShapeError, within } from "./schema_error.ts";
import type { Quantity } from "./sum.ts";
import type { Tags } from "./tags.ts";
import { LAST_NS } from "./time.ts";

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The check of a value that returns it typed, and the same rules as a JSON Schema. */
export interface Shape<T> {
  /** The shape as a JSON Schema. */
  readonly schema: JsonSchema;
  /**
   * The value, typed. It shares with `value` the parts that need no change. With `ignored`, it lacks
   * members of objects that are not known, and these are named there; without, they are a fault.
   *
   * @throws {ShapeError} If the value does not fit.
   */
  check(value: unknown, ignored?: Ignored): T;
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
    check(value) {
      if (typeof value !== "string") throw fault("must be a string", value);
      const length = value.length > max || value.length < 2 * min
        ? codePoints(value)
        : value.length;
      if (length < min || length > max) {
        const bounds = max < Infinity ? `${min} to ${max}` : `at least ${min}`;
        throw new ShapeError("", `must have ${bounds} characters: got ${length}`);
      }
      if (form && !form.test(value)) throw fault(`must match ${pattern}`, value);
      return value;
    },
  };
}

/** One of the given strings. */
export function oneOf<const T extends string>(...values: T[]): Shape<T> {
  const known = new Set<unknown>(values);
  return {
    schema: { enum: values },
    check(value) {
      if (!known.has(value)) throw fault(`must be one of ${values.join(", ")}`, value);
      return value as T;
    },
  };
}

/** `true` or `false`. */
export const flag: Shape<boolean> = {
  schema: { type: "boolean" },
  check(value) {
    if (typeof value !== "boolean") throw fault("must be true or false", value);
    return value;
  },
};

/** A finite number within bounds. */
export function number(min: number, max: number): Shape<number> {
  return {
    schema: { type: "number", minimum: min, maximum: max },
    check(value) {
      const plain = typeof value === "bigint" ? Number(value) : value;
      if (typeof plain !== "number" || !(plain >= min && plain <= max)) {
        throw fault(`must be a number from ${min} to ${max}`, value);
      }
      return plain;
    },
  };
}

/** An integer within bounds that a double holds exactly; -0 is 0. */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Shape<number> {
  return {
    schema: { type: "integer", minimum: min, maximum: max },
    check(value) {
      if (!Number.isInteger(value) || !(value as number >= min && value as number <= max)) {
        throw fault(`must be a whole number from ${min} to ${max}`, value);
      }
      return value as number + 0;
    },
  };
}

/** A number up to a magnitude; an integer keeps every digit. */
export function quantityUpTo(magnitude: number): Shape<Quantity> {
  const plain = number(-magnitude, magnitude);
  return {
    schema: plain.schema,
    check(value) {
      const checked = plain.check(value);
      return typeof value === "bigint" ? value : checked;
    },
  };
}

/** Epoch nanoseconds: a `bigint` here, an integer of up to 64 bits on the wire. */
export const nanoseconds: Shape<bigint> = {
  schema: { type: "integer", minimum: 0, maximum: Number(LAST_NS) },
  check(value) {
    if (typeof value !== "bigint" || value < 0n || value > LAST_NS) {
      throw fault(`must be whole epoch nanoseconds from 0 to ${LAST_NS}`, value);
    }
    return value;
  },
};

/** A value of the given shape, or `null`. */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    schema: { anyOf: [shape.schema, { type: "null" }] },
    check: (value, ignored) => value === null ? null : shape.check(value, ignored),
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
    check(value, ignored) {
      if (!Array.isArray(value)) throw fault("must be an array", value);
      if (value.length < min || value.length > max) {
        const bounds = max < Infinity ? `${min} to ${max}` : `at least ${min}`;
        throw new ShapeError("", `must have ${bounds} items: got ${value.length}`);
      }
      const start = ignored?.size ?? 0;
      let i = 0;
      try {
        let checked: T[] = value;
        for (; i < value.length; i++) {
          const mark = ignored?.size ?? 0;
          const element = item.check(value[i], ignored);
          if (ignored && ignored.size > mark) ignored.dropRepeats(start, mark);
          if (Object.is(element, value[i])) continue;
          if (checked === value) checked = value.slice();
          checked[i] = element;
        }
        ignored?.within("[]", start);
        return checked;
      } catch (error) {
        throw within(`[${i}]`, error);
      }
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
    check(given) {
      const entries = Object.entries(plainObject(given));
      if (entries.length > max) {
        throw new ShapeError("", `must have at most ${max} entries: got ${entries.length}`);
      }
      for (const [name, tag] of entries) {
        let isKey = true;
        try {
          key.check(name);
          isKey = false;
          value.check(tag);
        } catch (error) {
          throw within(`${field(name)}${isKey ? " (a key)" : ""}`, error);
        }
      }
      return given as Tags;
    },
  };
}

/** The shape of each field, required or optional. */
export type Fields<T> = { [K in keyof T]-?: Shape<Exclude<T[K], undefined>> };

/** Names of the optional fields. */
export type Optional<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** An object with these fields; those in `optional` may be absent, and others are not known. */
export function object<T extends object>(
  fields: Fields<T>,
  optional: Optional<T>[] = [],
): Shape<T> {
  const names = Object.keys(fields);
  const shapes = Object.values<Shape<unknown>>(fields);
  const known = new Set(names);
  const optionalNames = new Set<unknown>(optional);
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(names.map((name, i) => [name, shapes[i]!.schema])),
      required: names.filter((name) => !optionalNames.has(name)),
      additionalProperties: false,
    },
    check(value, ignored) {
      const given = knownMembers(plainObject(value), known, ignored);
      let checked = given;
      let at = 0;
      try {
        for (; at < names.length; at++) {
          const name = names[at]!;
          const value = given[name];
          if (value === undefined && !Object.hasOwn(given, name)) {
            if (optionalNames.has(name)) continue;
            throw new ShapeError("", "is missing");
          }
          const mark = ignored?.size ?? 0;
          const part = shapes[at]!.check(value, ignored);
          if (ignored && ignored.size > mark) ignored.within(name, mark);
          if (Object.is(part, value)) continue;
          if (checked === given) checked = { ...given };
          checked[name] = part;
        }
      } catch (error) {
        throw within(names[at]!, error);
      }
      return checked as T;
    },
  };
}

/** One of several objects; the string in the field `tag` decides which. */
export function variants<T>(tag: string, shapes: Record<string, Shape<T>>): Shape<T> {
  return {
    schema: { oneOf: Object.values(shapes).map(({ schema }) => schema) },
    check(value, ignored) {
      const variant = plainObject(value)[tag];
      if (typeof variant !== "string" || !Object.hasOwn(shapes, variant)) {
        throw within(tag, fault(`must be one of ${Object.keys(shapes).join(", ")}`, variant));
      }
      return shapes[variant]!.check(value, ignored);
    },
  };
}

/** A value of another shape, converted by `make`, which may throw further faults. */
export function mapped<A, B>(shape: Shape<A>, make: (value: A) => B): Shape<B> {
  return {
    schema: shape.schema,
    check: (value, ignored) => make(shape.check(value, ignored)),
  };
}

function plainObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw fault("must be an object", value);
  }
  return value as Record<string, unknown>;
}

function codePoints(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}
