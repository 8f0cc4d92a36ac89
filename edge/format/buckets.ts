/** The format of a histogram's buckets: their identity and their column. */

import type { Bins, Buckets } from "@service/core";
import { type ColumnReader, type ColumnWriter, isAscending } from "./columns.ts";

/** The kind of buckets: native bins, or the bounds of a Prometheus histogram. */
export type BucketKind = "bins" | readonly number[];

/** The kind of buckets; `undefined` without buckets. */
export function bucketKind(buckets: Buckets | null): BucketKind | undefined {
  if (buckets === null) return undefined;
  return "bounds" in buckets ? buckets.bounds : "bins";
}

/** A text for each kind. */
export function bucketKindKey(kind: BucketKind | undefined): string {
  if (!kind) return "";
  return kind === "bins" ? " bins" : ` ${kind.map(boundText).join(" ")}`;
}

/** The kind as JSON has it. */
export function encodeBucketKind(kind: BucketKind): EncodedBucketKind {
  return kind === "bins" ? kind : kind.map(boundText);
}

/** The kind that JSON has. */
export function decodeBucketKind(kind: EncodedBucketKind): BucketKind {
  return kind === "bins" ? kind : kind.map(Number);
}

/** A kind in JSON. */
export type EncodedBucketKind = "bins" | (number | string)[];

/** JSON has no negative zero. */
function boundText(bound: number): number | string {
  return Object.is(bound, -0) ? "-0" : bound;
}

/** Writes the counts of buckets, and for bins their indexes. */
export function writeBucketColumn(out: ColumnWriter, buckets: Buckets | null): void {
  if (buckets === null) return;
  if ("bounds" in buckets) {
    for (const times of buckets.counts) out.natural(times);
    return;
  }
  const { bins } = buckets;
  const indexes = [...bins.keys()];
  if (!isAscending(indexes)) indexes.sort((a, b) => a - b);
  out.natural(indexes.length);
  let before = 0;
  for (const index of indexes) {
    out.step(index - before);
    before = index;
  }
  for (const index of indexes) out.natural(bins.get(index)!);
}

/** Reads buckets of a kind. */
export function readBucketColumn(
  input: ColumnReader,
  kind: BucketKind | undefined,
): Buckets | null {
  if (!kind) return null;
  if (kind !== "bins") {
    return { bounds: kind, counts: Array.from({ length: kind.length + 1 }, () => input.natural()) };
  }
  const indexes = new Array<number>(input.count());
  let index = 0;
  for (let i = 0; i < indexes.length; i++) indexes[i] = index += input.step();
  const bins: Bins = new Map();
  for (const index of indexes) bins.set(index, input.natural());
  return { bins };
}
