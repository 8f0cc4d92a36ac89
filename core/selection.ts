/** Query parameters that both `/signals` endpoints take to answer with part of the payload. */

import { MAX_FRAMES } from "./limits.ts";
import { ShapeError } from "./shape.ts";
import type { Selection } from "./snapshot.ts";

/**
 * The part of the metrics that `query` asks for with `metrics` (names separated by commas, one that
 * ends in `*` standing for all that start so) and `top` (frames of each profile).
 *
 * @throws {ShapeError} If one of them cannot be read; its path is the parameter's name.
 */
export function readSelection(query: URLSearchParams): Selection {
  const metrics = single(query, "metrics");
  const top = single(query, "top");
  const selection: Selection = {};
  if (metrics !== undefined) {
    selection.metrics = metrics.split(",").map((name) => name.trim());
    if (selection.metrics.includes("")) {
      throw new ShapeError("metrics", "must be metric names separated by commas");
    }
  }
  if (top !== undefined) {
    selection.top = /^\d{1,6}$/.test(top) ? Number(top) : 0;
    if (selection.top < 1) {
      throw new ShapeError("top", `must be a whole number of frames, such as 1 or ${MAX_FRAMES}`);
    }
  }
  return selection;
}

/**
 * The one value of a query parameter, or `undefined` when it was not given.
 *
 * @throws {ShapeError} If it was given more than once.
 */
export function single(query: URLSearchParams, name: string): string | undefined {
  const given = query.getAll(name);
  if (given.length > 1) {
    throw new ShapeError(name, `must be given once: got it ${given.length} times`);
  }
  return given[0];
}

/**
 * Refuses parameters that are not known: a misspelt one would otherwise silently do nothing.
 *
 * @throws {ShapeError} If `query` has a parameter beside the `known`.
 */
export function onlyKnown(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (!known.includes(name)) {
      const list = known.length > 0 ? `known are ${known.join(", ")}` : "this path takes none";
      throw new ShapeError(name.slice(0, 80), `is not a parameter here: ${list}`);
    }
  }
}
