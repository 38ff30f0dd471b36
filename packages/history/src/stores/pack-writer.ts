import { compareNames } from '@scratchfs/core';
import { hexOf, type ObjectFormat } from '../object-id.js';
import type { ObjectType } from '../objects/git-object.js';
import { concat, type Primitives } from '../primitives.js';
import type { NamedObject } from '../repository.js';
import { crc32 } from './crc32.js';
import { encodePackIndex } from './pack-index.js';

/** Type numbers of objects in packs. */
export const PACK_TYPES = { commit: 1, tree: 2, blob: 3, tag: 4 } as const satisfies Record<ObjectType, number>;

export interface Pack {
  /** The hash that names the pack and its index. */
  readonly name: string;
  readonly pack: Uint8Array;
  readonly index: Uint8Array;
}

/** Encodes objects as one pack without deltas, and its index. The order of the objects does not change the name. */
export async function writePack(
  objects: readonly NamedObject[],
  format: ObjectFormat,
  primitives: Primitives,
): Promise<Pack> {
  const sorted = [...objects].sort((a, b) => compareNames(a.id, b.id));
  const header = new Uint8Array(12);
  const view = new DataView(header.buffer);
  view.setUint32(0, 0x5041434b);
  view.setUint32(4, 2);
  view.setUint32(8, sorted.length);
  const parts: Uint8Array[] = [header];
  const places: { id: NamedObject['id']; offset: number; crc: number }[] = [];
  let offset = header.length;
  for (const { id, type, body } of sorted) {
    const packed = concat([entryHeader(PACK_TYPES[type], body.length), await primitives.deflate(body)]);
    places.push({ id, offset, crc: crc32(packed) });
    parts.push(packed);
    offset += packed.length;
  }
  const hasher = primitives.hasher(format);
  for (const part of parts) hasher.update(part);
  const hash = hasher.digest();
  return {
    name: hexOf(hash),
    pack: concat([...parts, hash]),
    index: encodePackIndex(places, hash, format, primitives),
  };
}

/** Encodes type and size: four bits of the size beside the type, then seven per byte. */
function entryHeader(type: number, size: number): Uint8Array {
  const bytes: number[] = [];
  let rest = Math.floor(size / 16);
  let byte = (type << 4) | (size & 15);
  while (rest > 0) {
    bytes.push(byte | 128);
    byte = rest & 127;
    rest = Math.floor(rest / 128);
  }
  bytes.push(byte);
  return Uint8Array.from(bytes);
}
