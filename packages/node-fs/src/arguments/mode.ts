import { coded, invalidValue } from '../errors/argument-errors.js';
import { checkUint32 } from './values.js';

/** Converts permission bits from a number or octal text. */
export function toMode(value: unknown, fallback?: number, name = 'mode'): number {
  const given = value ?? fallback;
  if (typeof given !== 'string') return checkUint32(given, name);
  if (!/^[0-7]+$/.test(given)) throw invalidValue(name, given, 'must be a 32-bit unsigned integer or an octal string');
  return checkUint32(Number.parseInt(given, 8), name);
}

const MAX_ACCESS_MODE = 7;

/** Converts the mode bits of `access` and `copyFile`. Null and undefined mean 0. */
export function toBits(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'number') {
    throw coded(new TypeError('mode must be int32 or null/undefined'), 'ERR_INVALID_ARG_TYPE');
  }
  if (Number.isNaN(value)) throw coded(new RangeError('mode is out of range'), 'ERR_OUT_OF_RANGE');
  if (value <= -1 || value >= MAX_ACCESS_MODE + 1) {
    throw coded(new RangeError(`mode is out of range: >= 0 && <= ${MAX_ACCESS_MODE}`), 'ERR_OUT_OF_RANGE');
  }
  return value | 0;
}
