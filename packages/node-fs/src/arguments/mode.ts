import { invalidValue } from '../errors/argument-errors.js';
import { checkUint32 } from './values.js';

/** Permission bits: a number, or text in octal. */
export function toMode(value: unknown, fallback?: number, name = 'mode'): number {
  const given = value ?? fallback;
  if (typeof given !== 'string') return checkUint32(given, name);
  if (!/^[0-7]+$/.test(given)) throw invalidValue(name, given, 'must be a 32-bit unsigned integer or an octal string');
  return checkUint32(Number.parseInt(given, 8), name);
}
