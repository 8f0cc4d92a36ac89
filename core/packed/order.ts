/** Order of indexes: the packed format has them ascending. */

/** Whether each number is larger than the one before it. */
export function isAscending(values: readonly number[]): boolean {
  for (let i = 1; i < values.length; i++) if (!(values[i]! > values[i - 1]!)) return false;
  return true;
}

/** Items with their indexes, both sorted by index: mostly they are already. */
export function sortedByIndex<T>(indexes: number[], items: T[]): [indexes: number[], items: T[]] {
  if (isAscending(indexes)) return [indexes, items];
  const order = indexes.map((_, i) => i).sort((a, b) => indexes[a]! - indexes[b]!);
  return [order.map((i) => indexes[i]!), order.map((i) => items[i]!)];
}
