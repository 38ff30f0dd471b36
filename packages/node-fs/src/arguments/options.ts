import { invalidType, invalidValue } from '../errors/argument-errors.js';
import type { Platform } from '../platform.js';
import { checkSignal } from './values.js';

/** Unchecked options of a caller: any field may hold any value. */
export type Given = Readonly<Record<string, unknown>>;

const NONE: Given = Object.freeze(Object.create(null) as object) as Given;

/**
 * Returns the options of a function that takes an encoding. Text names the encoding; undefined, null and a function (a
 * callback) mean no options.
 */
export function toOptions(value: unknown, platform: Platform): Given {
  if (value === undefined || value === null || typeof value === 'function') return NONE;
  if (typeof value === 'string') {
    checkEncoding(value, platform);
    return { encoding: value };
  }
  if (typeof value !== 'object') throw invalidType('options', 'one of type string or object', value);
  const options = value as Given;
  checkEncoding(options['encoding'], platform);
  checkSignal(options['signal']);
  return options;
}

/** Reports whether bigints are requested: only `true` requests them. */
export function isBigint(options: Given): boolean {
  return options['bigint'] === true;
}

function checkEncoding(encoding: unknown, platform: Platform): void {
  if (!encoding || encoding === 'utf8' || encoding === 'buffer' || platform.isEncoding(encoding)) return;
  throw invalidValue('encoding', encoding, 'is invalid encoding');
}

/** Returns the encoding of returned names: UTF-8 text by default. */
export function nameEncoding(options: Given): string {
  return (options['encoding'] as string | null | undefined) || 'utf8';
}

/** Returns a name in the requested encoding. */
export function encodeName(name: string, encoding: string, platform: Platform): string | Uint8Array {
  if (encoding === 'utf8' || encoding === 'utf-8') return name;
  const bytes = platform.encode(name, 'utf8');
  return encoding === 'buffer' ? bytes : platform.decode(bytes, encoding);
}
