/**
 * Distinct numbers in the order of their first use. Not a Map: that is limited to 2^24 keys and costs more for doubles.
 */
export class NumberTable {
  #values = new Float64Array(16);
  #count = 0;
  /** Positions in `#values` plus one, by hash; 0 is free. */
  #slots = new Uint32Array(32);
  readonly #double = new Float64Array(1);
  readonly #words = new Uint32Array(this.#double.buffer);

  get count(): number {
    return this.#count;
  }

  /** Returns the values added so far, as a view of the table's own array. */
  values(): Float64Array {
    return this.#values.subarray(0, this.#count);
  }

  /** Returns the position of a number and adds it if it is new. -0 counts as 0. */
  add(value: number): number {
    let slot = this.#hash(value);
    for (let found = this.#slots[slot] as number; found !== 0; found = this.#slots[slot] as number) {
      if (this.#values[found - 1] === value) return found - 1;
      slot = (slot + 1) & (this.#slots.length - 1);
    }
    if (this.#count === this.#values.length) {
      this.#grow();
      return this.add(value);
    }
    this.#values[this.#count] = value + 0;
    this.#slots[slot] = ++this.#count;
    return this.#count - 1;
  }

  #hash(value: number): number {
    this.#double[0] = value + 0;
    const mixed = Math.imul((this.#words[0] as number) ^ Math.imul(this.#words[1] as number, 0x85ebca6b), 0x9e3779b1);
    return (mixed ^ (mixed >>> 15)) & (this.#slots.length - 1);
  }

  #grow(): void {
    const values = new Float64Array(this.#values.length * 2);
    values.set(this.#values);
    this.#values = values;
    this.#slots = new Uint32Array(values.length * 2);
    for (let at = 0; at < this.#count; at++) {
      let slot = this.#hash(values[at] as number);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1);
      this.#slots[slot] = at + 1;
    }
  }
}
