/** Up to this length, ASCII text is written character by character, which is faster than a call of `Buffer.write`. */
const MAX_MANUAL_ASCII_CHARS = 32;

/** The body of a request. */
export interface RequestBody {
  /** Approximate size in bytes. */
  readonly length: number;
  write(into: Writer): void;
}

/** A growing buffer. All numbers are big-endian; the scripts read them with `struct.unpack`. */
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
    this.#ensureCapacity(1);
    this.#length = this.#bytes.writeUInt8(value, this.#length);
  }
  u16(value: number): void {
    this.#ensureCapacity(2);
    this.#length = this.#bytes.writeUInt16BE(value, this.#length);
  }
  u32(value: number): void {
    this.#ensureCapacity(4);
    this.#length = this.#bytes.writeUInt32BE(value, this.#length);
  }
  double(value: number): void {
    this.#ensureCapacity(8);
    this.#length = this.#bytes.writeDoubleBE(value, this.#length);
  }
  /** Writes text of at most 255 bytes, preceded by its length. */
  shortText(text: string): void {
    this.#ensureCapacity(1 + text.length * 3);
    const bytes = this.#ascii(text, this.#length + 1) ?? this.#bytes.write(text, this.#length + 1, 'utf8');
    if (bytes > 255) throw new RangeError('Text of more than 255 bytes');
    this.#bytes[this.#length] = bytes;
    this.#length += 1 + bytes;
  }
  /** Writes short ASCII text and returns its length. Returns undefined for other text. */
  #ascii(text: string, at: number): number | undefined {
    if (text.length > MAX_MANUAL_ASCII_CHARS) return undefined;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return undefined;
      this.#bytes[at + i] = unit;
    }
    return text.length;
  }
  /** Writes text of at most 65,535 bytes, preceded by its length. */
  text(text: string): void {
    this.#ensureCapacity(2 + text.length * 3);
    const bytes = this.#ascii(text, this.#length + 2) ?? this.#bytes.write(text, this.#length + 2, 'utf8');
    this.#bytes.writeUInt16BE(bytes, this.#length);
    this.#length += 2 + bytes;
  }
  /** Writes a name. One of more than 255 bytes is written as `/`, which no entry is called. */
  name(text: string): void {
    const isPossible = text.length * 3 <= 255 || Buffer.byteLength(text) <= 255;
    this.shortText(isPossible ? text : '/');
  }
  /** Writes text of one byte per character, without its length. */
  latin1(text: string): void {
    this.#ensureCapacity(text.length);
    this.#length += this.#bytes.write(text, this.#length, 'latin1');
  }
  bytes(bytes: Uint8Array): void {
    this.#ensureCapacity(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }
  /** Reserves `length` bytes that the caller fills. */
  reserve(length: number): { readonly bytes: Buffer; readonly at: number } {
    this.#ensureCapacity(length);
    const at = this.#length;
    this.#length += length;
    return { bytes: this.#bytes, at };
  }
  /** Overwrites a number that was written before. */
  patchU32(at: number, value: number): void {
    this.#bytes.writeUInt32BE(value, at);
  }
  patchU16(at: number, value: number): void {
    this.#bytes.writeUInt16BE(value, at);
  }

  /** Removes everything after the first `length` bytes. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** Appends all bytes to another writer. */
  write(into: Writer): void {
    into.bytes(this.done());
  }

  done(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #ensureCapacity(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
