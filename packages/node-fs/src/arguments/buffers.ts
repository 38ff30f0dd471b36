import { invalidType, invalidValue, outOfRange } from '../errors/argument-errors.js';
import type { Given } from './options.js';
import { checkInteger, checkObject } from './values.js';

const A_VIEW = 'an instance of Buffer, TypedArray, or DataView';

export function checkView(value: unknown, name = 'buffer'): ArrayBufferView {
  if (!ArrayBuffer.isView(value)) throw invalidType(name, A_VIEW, value);
  return value;
}

export function checkViews(value: unknown): readonly ArrayBufferView[] {
  if (Array.isArray(value) && value.every((one) => ArrayBuffer.isView(one))) return value;
  throw invalidType('buffers', 'an ArrayBufferView[]', value);
}

/** Checks content to write: text or bytes. */
export function checkData(value: unknown, name: string): string | ArrayBufferView {
  if (typeof value === 'string' || ArrayBuffer.isView(value)) return value;
  throw invalidType(name, `of type string or ${A_VIEW}`, value);
}

/** Returns the bytes of a view or of a part of it. A whole Uint8Array is returned itself. */
export function bytesOf(view: ArrayBufferView, offset = 0, length = view.byteLength - offset): Uint8Array {
  if (length === view.byteLength && view instanceof Uint8Array) return view;
  return new Uint8Array(view.buffer, view.byteOffset + offset, length);
}

/** A part of a buffer and a position in the file; null means the file's current position. */
export interface Range {
  readonly buffer: ArrayBufferView;
  readonly bytes: Uint8Array;
  readonly position: number | null;
}

export interface Parts {
  readonly offset: unknown;
  readonly length: unknown;
  readonly position: unknown;
}

/** Like `partsOf`, but requires an object if options are given. */
export function checkedPartsOf(options: unknown, buffer: ArrayBufferView): Parts {
  if (options !== undefined && options !== null) checkObject(options, 'options');
  return partsOf(options, buffer);
}

/** Returns `{ offset, length, position }`, each with its default. */
export function partsOf(options: unknown, buffer: ArrayBufferView): Parts {
  const { offset = 0, length = buffer.byteLength - (offset as number), position = null } = (options ?? {}) as Given;
  return { offset, length, position };
}

/** Returns the range into which `read` reads. */
export function readRange(buffer: ArrayBufferView, parts: Parts): Range {
  const offset = parts.offset === undefined || parts.offset === null ? 0 : checkInteger(parts.offset, 'offset', 0);
  const length = (parts.length as number) | 0;
  if (length === 0) return { buffer, bytes: new Uint8Array(0), position: null };
  if (buffer.byteLength === 0) throw invalidValue('buffer', buffer, 'is empty and cannot be written');
  if (length < 0) throw outOfRange('length', '>= 0', length);
  if (offset + length > buffer.byteLength) throw outOfRange('length', `<= ${buffer.byteLength - offset}`, length);
  return { buffer, bytes: bytesOf(buffer, offset, length), position: toPosition(parts.position) };
}

const MAX_BIGINT_POSITION = 2n ** 63n;

function toPosition(position: unknown): number | null {
  if (position === undefined || position === null) return null;
  if (typeof position === 'bigint') {
    if (position < -MAX_BIGINT_POSITION || position >= MAX_BIGINT_POSITION) {
      throw outOfRange('position', `>= ${-MAX_BIGINT_POSITION} && <= ${MAX_BIGINT_POSITION - 1n}`, position);
    }
    return position < 0n ? null : Number(position);
  }
  if (typeof position !== 'number') throw invalidType('position', 'of type bigint or integer', position);
  return checkInteger(position, 'position', -1) === -1 ? null : position;
}

/** Returns the range that `write` writes. */
export function writeRange(buffer: ArrayBufferView, parts: Parts): Range {
  const { byteLength } = buffer;
  const offset = parts.offset === undefined || parts.offset === null ? 0 : checkInteger(parts.offset, 'offset', 0);
  const length = typeof parts.length === 'number' ? parts.length : byteLength - offset;
  if (offset > byteLength) throw outOfRange('offset', `<= ${byteLength}`, offset);
  if (length > byteLength - offset) throw outOfRange('length', `<= ${byteLength - offset}`, length);
  if (length < 0) throw outOfRange('length', '>= 0', length);
  checkInteger(length, 'length', 0, 2 ** 31 - 1);
  return { buffer, bytes: bytesOf(buffer, offset, length), position: plainPosition(parts.position) };
}

/** Returns the position if it is a non-negative safe integer, otherwise null. */
export function plainPosition(position: unknown): number | null {
  return Number.isSafeInteger(position) && (position as number) >= 0 ? (position as number) : null;
}
