import { Packr } from 'msgpackr/index-no-eval';
import { corrupt } from './corrupt.js';

/**
 * The index as MessagePack: one array with the number of entries and the columns. With columns instead of an object per
 * entry, no key can be mistaken for a property, and little must be checked. `depths` and `names` omit the root. The
 * columns after `links` omit further names of files.
 */
export const COLUMNS = [
  /** Varints: depth of each entry. */
  'depths',
  /** UTF-8, each name followed by NUL. */
  'names',
  /** Varints: 0 for a further name, else 1 + mode + 4096 × (0 file, 1 directory, 2 symlink). */
  'rights',
  /** Varints: for each further name, the number of the entry with the first. */
  'links',
  /** Varints: user and group. */
  'owners',
  /**
   * Varints: positions in `times`. First that of mtime, doubled, plus 1 if ctime, atime or birthtime differ from it;
   * only then their three positions follow.
   */
  'stamps',
  /** Distinct times in the order of their first use, as little-endian doubles. */
  'times',
  /** Varints: bytes of each file, in the order of the content area. */
  'sizes',
  /** UTF-8, the target of each symlink followed by NUL. */
  'targets',
] as const;

export type Columns = { readonly [Name in (typeof COLUMNS)[number]]: Uint8Array };

const packr = new Packr({ useRecords: false, mapsAsObjects: false, moreTypes: false, copyBuffers: false });

export function packIndex(count: number, columns: Columns): Uint8Array {
  return packr.pack([count, ...COLUMNS.map((name) => columns[name])]);
}

/** @throws StorageError `corrupt` for bytes that are not in the form of {@link packIndex} */
export function unpackIndex(packed: Uint8Array): { readonly count: number; readonly columns: Columns } {
  checkShape(packed);
  const [count, ...values] = packr.unpack(packed) as [number, ...Uint8Array[]];
  const columns = Object.fromEntries(COLUMNS.map((name, at) => [name, values[at]])) as Columns;
  return { count, columns };
}

/**
 * Walks the index before it is unpacked, so that the unpacker meets no length that exceeds the bytes, no nesting, no
 * extension and no second form of a value.
 */
function checkShape(packed: Uint8Array): void {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (packed[0] !== 0x90 + 1 + COLUMNS.length) throw corrupt('its index is not a list of columns');
  let at = 1 + countLength(view);
  for (const name of COLUMNS) {
    const [head, length] = binaryLength(view, at, name);
    at += head + length;
    if (at > packed.length) throw corrupt(`${name} reach past the end of its index`);
  }
  if (at !== packed.length) throw corrupt('its index has something after the columns');
}

const UNSIGNED = [
  { tag: 0xcc, bytes: 1, least: 0x80 },
  { tag: 0xcd, bytes: 2, least: 0x100 },
  { tag: 0xce, bytes: 4, least: 0x10000 },
] as const;
const BINARY = [
  { tag: 0xc4, bytes: 1, least: 0 },
  { tag: 0xc5, bytes: 2, least: 0x100 },
  { tag: 0xc6, bytes: 4, least: 0x10000 },
] as const;

function countLength(view: DataView): number {
  if (view.byteLength > 1 && view.getUint8(1) < 0x80) return 1;
  const form = readForm(view, 1, UNSIGNED);
  if (form === undefined) throw corrupt('its index does not say how many entries there are');
  return form.head;
}

function binaryLength(view: DataView, at: number, name: string): readonly [number, number] {
  const form = readForm(view, at, BINARY);
  if (form === undefined) throw corrupt(`${name} are missing from its index`);
  return [form.head, form.value];
}

function readForm(view: DataView, at: number, forms: typeof UNSIGNED | typeof BINARY) {
  if (at >= view.byteLength) return undefined;
  const tag = view.getUint8(at);
  for (const form of forms) {
    if (form.tag !== tag || at + 1 + form.bytes > view.byteLength) continue;
    const value =
      form.bytes === 1 ? view.getUint8(at + 1) : form.bytes === 2 ? view.getUint16(at + 1) : view.getUint32(at + 1);
    return value < form.least ? undefined : { head: 1 + form.bytes, value };
  }
  return undefined;
}
