/** Text that is written unit by unit. */
const MAX_ASCII = 32;

/** Something that can be written down. */
export interface Body {
  /** Bytes that it will have, or nearly so. */
  readonly length: number;
  write(into: Writer): void;
}

/** Bytes that grow while they are written: the counterpart of `struct.unpack` in the scripts. */
export class Writer {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity = 512) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    this.#room(1);
    this.#length = this.#bytes.writeUInt8(value, this.#length);
  }
  u16(value: number): void {
    this.#room(2);
    this.#length = this.#bytes.writeUInt16BE(value, this.#length);
  }
  u32(value: number): void {
    this.#room(4);
    this.#length = this.#bytes.writeUInt32BE(value, this.#length);
  }
  double(value: number): void {
    this.#room(8);
    this.#length = this.#bytes.writeDoubleBE(value, this.#length);
  }
  /** Text of at most 255 bytes, after its length. */
  short(text: string): void {
    this.#room(1 + text.length * 3);
    const bytes = this.#ascii(text, this.#length + 1) ?? this.#bytes.write(text, this.#length + 1, 'utf8');
    if (bytes > 255) throw new RangeError('Text of more than 255 bytes');
    this.#bytes[this.#length] = bytes;
    this.#length += 1 + bytes;
  }
  /** Writes short text that is ASCII: faster by itself than by a call of the platform. */
  #ascii(text: string, at: number): number | undefined {
    if (text.length > MAX_ASCII) return undefined;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return undefined;
      this.#bytes[at + i] = unit;
    }
    return text.length;
  }
  /** Text of at most 65,535 bytes, after its length. */
  text(text: string): void {
    this.#room(2 + text.length * 3);
    const bytes = this.#ascii(text, this.#length + 2) ?? this.#bytes.write(text, this.#length + 2, 'utf8');
    this.#bytes.writeUInt16BE(bytes, this.#length);
    this.#length += 2 + bytes;
  }
  /** A name; one that is longer than names can be is written as what no name is. */
  name(text: string): void {
    const isPossible = text.length * 3 <= 255 || Buffer.byteLength(text) <= 255;
    this.short(isPossible ? text : '/');
  }
  /** Text of one byte a character. */
  latin(text: string): void {
    this.#room(text.length);
    this.#length += this.#bytes.write(text, this.#length, 'latin1');
  }
  bytes(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }
  /** Room for `length` bytes that the caller fills. */
  reserve(length: number): { readonly bytes: Buffer; readonly at: number } {
    this.#room(length);
    const at = this.#length;
    this.#length += length;
    return { bytes: this.#bytes, at };
  }
  /** Overwrites what was written at a place. */
  patchU32(at: number, value: number): void {
    this.#bytes.writeUInt32BE(value, at);
  }
  patchU16(at: number, value: number): void {
    this.#bytes.writeUInt16BE(value, at);
  }

  /** Takes back what was written after a place. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** Writes all of it into another one. */
  write(into: Writer): void {
    into.bytes(this.done());
  }

  done(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
