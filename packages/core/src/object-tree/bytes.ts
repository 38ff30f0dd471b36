import { corrupt } from './corrupt.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Maximum length of an ASCII text that is written without the platform's encoder. Such a length takes one byte. */
const MAX_SHORT_UNITS = 0x7f;

/**
 * A growing buffer of bytes. `number` writes a varint, 7 bits per byte, the lowest first; `word` takes 4 bytes and
 * `double` 8, both little-endian.
 */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  /** Writes an integer from 0 to 2^53 - 1. */
  number(value: number): void {
    this.#room(8);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  word(value: number): void {
    this.#room(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  double(value: number): void {
    this.#room(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** Writes UTF-8 after its length. */
  text(text: string): void {
    if (text.length <= MAX_SHORT_UNITS && this.#ascii(text)) return;
    const bytes = encoder.encode(text);
    this.number(bytes.length);
    this.raw(bytes);
  }

  /**
   * Writes a short text and returns true; writes nothing and returns false if it is not ASCII. The encoder would take
   * more than twice as long.
   */
  #ascii(text: string): boolean {
    const { length } = text;
    this.#room(length + 1);
    const bytes = this.#bytes;
    const start = this.#length + 1;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return false;
      bytes[start + i] = unit;
    }
    bytes[this.#length] = length;
    this.#length = start + length;
    return true;
  }

  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  done(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + bytes));
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

/** Reads what a {@link ByteWriter} wrote. Reading past the end throws a StorageError of kind `corrupt`. */
export class ByteReader {
  #at = 0;
  readonly #view: DataView;
  constructor(readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  byte(): number {
    return this.#view.getUint8(this.#take(1));
  }

  number(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
    }
    throw corrupt('a number is too large');
  }

  /** Reads the number of the items that follow, which take at least a byte each. */
  count(): number {
    const count = this.number();
    if (count > this.bytes.length - this.#at) throw corrupt('a list is longer than its page');
    return count;
  }

  word(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  double(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  text(): string {
    const length = this.number();
    const from = this.#take(length);
    try {
      return decoder.decode(this.bytes.subarray(from, from + length));
    } catch {
      throw corrupt('a text is not UTF-8');
    }
  }

  end(): void {
    if (this.#at !== this.bytes.length) throw corrupt('a page is too long');
  }

  #take(length: number): number {
    const from = this.#at;
    if (length > this.bytes.length - from) throw corrupt('a page is too short');
    this.#at += length;
    return from;
  }
}
