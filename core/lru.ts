/** A cache of bounded weight, which evicts the least recently used entries. */

/** Capacity of a cache. */
export interface LruOptions<V> {
  /** Weight of all entries together; the newest entry stays even if it alone weighs more. */
  max: number;
  /** Weight of an entry when it is set; absent: 1 each. */
  weigh?: (value: V) => number;
  /** Called with each evicted value. */
  onEvict?: (value: V) => void;
}

interface Weighed<V> {
  value: V;
  weight: number;
}

/** Cache of values by key, up to a total weight. */
export class Lru<K, V> {
  readonly #max: number;
  readonly #weigh: (value: V) => number;
  readonly #onEvict: ((value: V) => void) | undefined;
  /** The least recently used first. */
  readonly #entries = new Map<K, Weighed<V>>();
  #weight = 0;

  /** An empty cache. */
  constructor({ max, weigh = () => 1, onEvict }: LruOptions<V>) {
    this.#max = max;
    this.#weigh = weigh;
    this.#onEvict = onEvict;
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** Weight of all entries. */
  get weight(): number {
    return this.#weight;
  }

  /** All values, the least recently used first. */
  *values(): IterableIterator<V> {
    for (const { value } of this.#entries.values()) yield value;
  }

  /** The value of a key, which becomes the most recently used. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Sets the value of a key, which becomes the most recently used. */
  set(key: K, value: V): void {
    this.delete(key);
    const weight = this.#weigh(value);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    if (this.#weight > this.#max) this.#evict();
  }

  /** Removes the value of a key. */
  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }

  /** Removes all values. */
  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  #evict(): void {
    for (const [key, { value }] of this.#entries) {
      if (this.#weight <= this.#max || this.#entries.size === 1) return;
      this.delete(key);
      this.#onEvict?.(value);
    }
  }
}
