import { coded, invalidType, outOfRange } from '../errors/argument-errors.js';

export function checkBoolean(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') throw invalidType(name, 'of type boolean', value);
  return value;
}

export function checkString(value: unknown, name: string): string {
  if (typeof value !== 'string') throw invalidType(name, 'of type string', value);
  return value;
}

export function checkFunction<F>(value: F, name: string): F {
  if (typeof value !== 'function') throw invalidType(name, 'of type function', value);
  return value;
}

export function checkObject(value: unknown, name: string): object {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalidType(name, 'of type object', value);
  return value;
}

export function checkInteger(
  value: unknown,
  name: string,
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER,
): number {
  if (typeof value !== 'number') throw invalidType(name, 'of type number', value);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < min || value > max) throw outOfRange(name, `>= ${min} && <= ${max}`, value);
  return value;
}

/** Checks a file's length. Negative values become 0. */
export function checkLength(value: unknown): number {
  return Math.max(0, checkInteger(value, 'len'));
}

const MAX_INT32 = 2 ** 31 - 1;
const MAX_UINT32 = 2 ** 32 - 1;

export function checkInt32(value: unknown, name: string, min = -(2 ** 31)): number {
  return checkInteger(value, name, min, MAX_INT32);
}

export function checkUint32(value: unknown, name: string): number {
  return checkInteger(value, name, 0, MAX_UINT32);
}

/** Checks a user or group id; -1 keeps the owner. */
export function checkOwner(value: unknown, name: string): number {
  return checkInteger(value, name, -1, MAX_UINT32);
}

export function isFd(value: unknown): value is number {
  return typeof value === 'number' && value === (value | 0);
}

export function checkFd(value: unknown): number {
  return Object.is(value, -0) ? 0 : checkInt32(value, 'fd', 0);
}

function isDescriptor(value: number): boolean {
  return value >= 0 && value <= MAX_INT32;
}

/**
 * Like `checkFd`, for calls whose check is in Node's native part: it prints numbers without `_` and a bigint without
 * its `n`.
 */
export function checkNativeFd(value: unknown): number {
  if (Number.isInteger(value) && !isDescriptor(value as number)) {
    const message = `The value of "fd" is out of range. It must be >= 0 && <= ${MAX_INT32}. Received ${value}`;
    throw coded(new RangeError(message), 'ERR_OUT_OF_RANGE');
  }
  if (typeof value !== 'bigint') return checkFd(value);
  const message = `The "fd" argument must be of type number. Received type bigint (${value})`;
  throw coded(new TypeError(message), 'ERR_INVALID_ARG_TYPE');
}

interface Signal {
  readonly aborted: boolean;
  readonly reason?: unknown;
}

export function checkSignal(value: unknown, name = 'options.signal'): AbortSignal | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || !('aborted' in value)) {
    throw invalidType(name, 'an instance of AbortSignal', value);
  }
  return value as Signal as AbortSignal;
}
