interface Cached<V> {
  readonly value: V;
  readonly size: number;
  used: number;
}

/**
 * A bounded cache. While it is held, no value used since the hold began is evicted, so the holder finds everything that
 * it has loaded.
 */
export class Cache<V> {
  readonly #entries = new Map<string, Cached<V>>();
  readonly #holds = new Set<{ readonly since: number }>();
  readonly #max: number;
  readonly #onEvicted: (value: V) => void;
  #time = 0;
  #size = 0;

  /** `onEvicted` is called with values evicted for lack of space. */
  constructor(max: number, onEvicted: (value: V) => void = () => {}) {
    this.#max = max;
    this.#onEvicted = onEvicted;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = ++this.#time;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  set(key: string, value: V, size: number): void {
    this.delete(key);
    this.#entries.set(key, { value, size, used: ++this.#time });
    this.#size += size;
    if (this.#holds.size === 0) this.#trim();
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#size -= entry.size;
    this.#entries.delete(key);
  }

  /** Returns the function that ends the hold. */
  hold(): () => void {
    const hold = { since: this.#time };
    this.#holds.add(hold);
    return () => {
      this.#holds.delete(hold);
      this.#trim();
    };
  }

  #trim(): void {
    let oldest = Infinity;
    for (const { since } of this.#holds) oldest = Math.min(oldest, since);
    for (const [key, entry] of this.#entries) {
      if (this.#size <= this.#max || entry.used > oldest) return;
      this.delete(key);
      this.#onEvicted(entry.value);
    }
  }
}
