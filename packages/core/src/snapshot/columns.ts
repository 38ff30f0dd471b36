import { corrupt } from './corrupt.js';

/** Builds a column of a snapshot's index. Each number is a varint: 7 bits per byte, the lowest first. */
export class ColumnWriter {
  #bytes = new Uint8Array(64);
  #length = 0;

  /** Appends an integer from 0 to 2^53 - 1. */
  push(value: number): void {
    if (this.#length + 8 > this.#bytes.length) this.#grow();
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(): void {
    const grown = new Uint8Array(this.#bytes.length * 2);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

/** Reads a column. Each number has only one valid form, the shortest. */
export class ColumnReader {
  #at = 0;
  constructor(
    readonly name: string,
    readonly bytes: Uint8Array,
  ) {}

  /** @throws StorageError `corrupt` past the end, above 2^53 - 1, and for a form that is not the shortest */
  next(): number {
    const first = this.bytes[this.#at++];
    if (first === undefined) throw corrupt(`${this.name} are too few`);
    return first < 0x80 ? first : this.#rest(first - 0x80);
  }

  #rest(low: number): number {
    let value = low;
    for (let scale = 0x80; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.bytes[this.#at++];
      if (byte === undefined) throw corrupt(`${this.name} are too few`);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (byte === 0 || value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
    }
    throw corrupt(`${this.name} have a number in a wrong form`);
  }

  /** @throws StorageError `corrupt` if numbers are left */
  end(): void {
    if (this.#at !== this.bytes.length) throw corrupt(`${this.name} are too many`);
  }
}
