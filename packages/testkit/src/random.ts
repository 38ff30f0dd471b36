/** A seeded random number generator with the same numbers in every runtime. Not for secrets. */
export class Random {
  #a: number;
  #b: number;

  constructor(readonly seed: number) {
    this.#a = (seed ^ 0x9e3779b9) >>> 0;
    this.#b = Math.imul(seed + 0x7f4a7c15, 0x85ebca6b) >>> 0;
    for (let i = 0; i < 8; i++) this.next();
  }

  /** Returns a 32-bit unsigned integer: the sum of a Weyl sequence and a xorshift generator, mixed. */
  next(): number {
    this.#a = (this.#a + 0x6d2b79f5) >>> 0;
    this.#b = (this.#b ^ (this.#b << 13)) >>> 0;
    this.#b = (this.#b ^ (this.#b >>> 17)) >>> 0;
    this.#b = (this.#b ^ (this.#b << 5)) >>> 0;
    // xorshift never leaves zero.
    if (this.#b === 0) this.#b = 1;
    let x = (this.#a + this.#b) >>> 0;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return (x ^ (x >>> 14)) >>> 0;
  }

  /** Returns an integer from 0 to `end - 1`. */
  below(end: number): number {
    return Math.floor((this.next() / 0x1_0000_0000) * end);
  }

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability * 0x1_0000_0000;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('pick() needs at least one item');
    return items[this.below(items.length)] as T;
  }

  /** Returns a generator that later numbers of this one do not affect. */
  split(): Random {
    return new Random(this.next());
  }
}
