import { HistoryError } from '../errors.js';
import { hexOf, ID_BYTES, type ObjectFormat, type ObjectId, putId } from '../object-id.js';
import type { Primitives } from '../primitives.js';

const MAGIC = 0xff744f63;
const FANOUT_OFFSET = 8;
const TABLES_OFFSET = FANOUT_OFFSET + 256 * 4;

/** Location of an object in a pack. */
export interface PackedPlace {
  readonly offset: number;
  /** Offset of the next object, or of the checksum at the end of the pack. */
  readonly end: number;
}

/** The index of a pack, version 2 (git, gitformat-pack): sorted ids with their offsets. */
export class PackIndex {
  readonly count: number;
  readonly #view: DataView;
  readonly #width: number;
  readonly #offsets: Float64Array;
  readonly #sorted: Float64Array;
  readonly #end: number;

  /** @throws HistoryError `corrupt` */
  constructor(
    readonly bytes: Uint8Array,
    readonly format: ObjectFormat,
    primitives: Primitives,
    /** Size of the pack in bytes. */
    packSize: number,
  ) {
    this.#width = ID_BYTES[format];
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (
      bytes.length < TABLES_OFFSET + 2 * this.#width ||
      this.#view.getUint32(0) !== MAGIC ||
      this.#view.getUint32(4) !== 2
    )
      throw damaged('is not of version 2');
    this.count = this.#view.getUint32(TABLES_OFFSET - 4);
    const hasher = primitives.hasher(format);
    hasher.update(bytes.subarray(0, bytes.length - this.#width));
    if (hexOf(hasher.digest()) !== hexOf(bytes.subarray(bytes.length - this.#width))) throw damaged('is damaged');
    this.#offsets = this.#readOffsets();
    this.#sorted = this.#offsets.slice().sort();
    const last = this.#sorted.at(-1) ?? 0;
    if (last >= packSize - this.#width) throw damaged('does not belong to its pack');
    this.#end = packSize - this.#width;
  }

  find(id: ObjectId): PackedPlace | undefined {
    const wanted = new Uint8Array(this.#width);
    putId(wanted, 0, id);
    const first = wanted[0] as number;
    let low = first === 0 ? 0 : this.#view.getUint32(FANOUT_OFFSET + (first - 1) * 4);
    let high = Math.min(this.count, this.#view.getUint32(FANOUT_OFFSET + first * 4));
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = this.#compare(middle, wanted);
      if (order === 0) return this.at(this.#offsets[middle] as number);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  /** Returns the location of the object at an offset. @throws HistoryError `corrupt` if none begins there */
  at(offset: number): PackedPlace {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle] as number) < offset) low = middle + 1;
      else high = middle;
    }
    if (this.#sorted[low] !== offset) throw damaged('does not know an offset that its pack names');
    return { offset, end: this.#sorted[low + 1] ?? this.#end };
  }

  /** Yields the ids that begin with a prefix, in order. */
  *ids(prefix = ''): Generator<ObjectId> {
    for (let i = this.#firstFrom(prefix); i < this.count; i++) {
      const at = TABLES_OFFSET + i * this.#width;
      const id = hexOf(this.bytes.subarray(at, at + this.#width));
      if (!id.startsWith(prefix)) return;
      yield id;
    }
  }

  /** Returns the position of the first id that does not sort before a prefix. */
  #firstFrom(prefix: string): number {
    const wanted = new Uint8Array(this.#width);
    putId(wanted, 0, prefix.padEnd(2 * this.#width, '0') as ObjectId);
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(middle, wanted) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compare(position: number, wanted: Uint8Array): number {
    const at = TABLES_OFFSET + position * this.#width;
    for (let i = 0; i < this.#width; i++) {
      const difference = (this.bytes[at + i] as number) - (wanted[i] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  #readOffsets(): Float64Array {
    const small = TABLES_OFFSET + this.count * (this.#width + 4);
    const large = small + this.count * 4;
    if (large + 2 * this.#width > this.bytes.length) throw damaged('is cut off');
    return Float64Array.from({ length: this.count }, (_, i) => {
      const value = this.#view.getUint32(small + i * 4);
      if (value < 2 ** 31) return value;
      const at = large + (value - 2 ** 31) * 8;
      if (at + 8 + 2 * this.#width > this.bytes.length) throw damaged('is cut off');
      return this.#view.getUint32(at) * 2 ** 32 + this.#view.getUint32(at + 4);
    });
  }
}

/** Encodes an index for objects sorted by id. */
export function encodePackIndex(
  objects: readonly { readonly id: ObjectId; readonly offset: number; readonly crc: number }[],
  packHash: Uint8Array,
  format: ObjectFormat,
  primitives: Primitives,
): Uint8Array {
  const width = ID_BYTES[format];
  const bytes = new Uint8Array(TABLES_OFFSET + objects.length * (width + 8) + 2 * width);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint32(4, 2);
  for (const [i, { id, offset, crc }] of objects.entries()) {
    putId(bytes, TABLES_OFFSET + i * width, id);
    for (let first = bytes[TABLES_OFFSET + i * width] as number; first < 256; first++)
      view.setUint32(FANOUT_OFFSET + first * 4, i + 1);
    view.setUint32(TABLES_OFFSET + objects.length * width + i * 4, crc);
    view.setUint32(TABLES_OFFSET + objects.length * (width + 4) + i * 4, offset);
  }
  bytes.set(packHash, bytes.length - 2 * width);
  const hasher = primitives.hasher(format);
  hasher.update(bytes.subarray(0, bytes.length - width));
  bytes.set(hasher.digest(), bytes.length - width);
  return bytes;
}

function damaged(why: string): HistoryError {
  return new HistoryError('corrupt', `The index of a pack ${why}`);
}
