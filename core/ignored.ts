/** Ignored members: the members of objects that an open shape does not know, named by their paths. */

import { field, join, ShapeError } from "./schema_error.ts";

/** Most paths that are named. */
const MAX_PATHS = 20;

/**
 * Collects the paths of members that checks ignored, without indexes: `window.series[].exemplars`. Of
 * more than twenty in one place, some are left out.
 */
export class Ignored {
  readonly #found: string[] = [];

  /** Number of paths so far: a mark for the paths that come after it. */
  get size(): number {
    return this.#found.length;
  }

  /** The paths, sorted; at most twenty. */
  get paths(): string[] {
    return [...new Set(this.#found)].sort().slice(0, MAX_PATHS);
  }

  /** Adds members of one object. */
  add(names: readonly string[]): void {
    for (const name of names.slice(0, MAX_PATHS)) this.#found.push(field(name));
  }

  /** Puts `part` before the paths from `mark` on. */
  within(part: string, mark: number): void {
    for (let i = mark; i < this.#found.length; i++) this.#found[i] = join(part, this.#found[i]!);
  }

  /** Keeps the first of equal paths from `start` on, where those before `mark` differ already. */
  dropRepeats(start: number, mark: number): void {
    for (const path of this.#found.splice(mark)) {
      const before = this.#found.indexOf(path, start);
      if (before < 0 && this.#found.length - start < MAX_PATHS) this.#found.push(path);
    }
  }
}

/** The members of an object that are known; others are named in `ignored`, or refused without it. */
export function knownMembers(
  given: Record<string, unknown>,
  known: ReadonlySet<string>,
  ignored: Ignored | undefined,
): Record<string, unknown> {
  let unknown: string[] | undefined;
  for (const name in given) if (!known.has(name)) (unknown ??= []).push(name);
  if (!unknown) return given;
  if (!ignored) throw new ShapeError(field(unknown[0]!), "is not a field known here");
  ignored.add(unknown);
  const own: Record<string, unknown> = {};
  for (const name of known) if (Object.hasOwn(given, name)) own[name] = given[name];
  return own;
}
