import { HistoryError } from '../errors.js';
import { hexOf, type ObjectFormat, type ObjectId } from '../object-id.js';
import type { Primitives } from '../primitives.js';

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

/** An object as git hashes it: its type and its bytes. */
export interface GitObject {
  readonly type: ObjectType;
  readonly body: Uint8Array;
}

const TYPES: readonly string[] = ['blob', 'tree', 'commit', 'tag'];
const encoder = new TextEncoder();

/** Returns the header that git puts before an object's bytes: type, space, decimal size, NUL. */
export function headerOf({ type, body }: GitObject): Uint8Array {
  return encoder.encode(`${type} ${body.length}\0`);
}

export function idOf(object: GitObject, format: ObjectFormat, primitives: Primitives): ObjectId {
  const hasher = primitives.hasher(format);
  hasher.update(headerOf(object));
  hasher.update(object.body);
  return hexOf(hasher.digest());
}

/** Splits header and body. @throws HistoryError `corrupt` */
export function parseFramed(bytes: Uint8Array, id: ObjectId): GitObject {
  const end = bytes.subarray(0, 32).indexOf(0);
  const [type, size, ...rest] = String.fromCharCode(...bytes.subarray(0, Math.max(0, end))).split(' ');
  if (end < 0 || rest.length > 0 || !TYPES.includes(type as string) || size !== String(bytes.length - end - 1))
    throw new HistoryError('corrupt', `Object ${id} does not begin as git's objects do`, { id });
  return { type: type as ObjectType, body: bytes.subarray(end + 1) };
}

/** @throws HistoryError `corrupt` if the bytes do not match the id */
export function checkId(object: GitObject, id: ObjectId, format: ObjectFormat, primitives: Primitives): GitObject {
  const found = idOf(object, format, primitives);
  if (found !== id) throw new HistoryError('corrupt', `Object ${id} is damaged: its bytes hash to ${found}`, { id });
  return object;
}
