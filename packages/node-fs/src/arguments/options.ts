import { invalidType, invalidValue } from '../errors/argument-errors.js';
import type { Platform } from '../platform.js';
import { checkSignal } from './values.js';

/** Options as a caller may give them: any field may hold anything. */
export type Given = Readonly<Record<string, unknown>>;

const NONE: Given = Object.freeze(Object.create(null) as object) as Given;

/** The options of functions that take an encoding: text names it, an object may, nothing and a function (a callback) are none. */
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

/** Whether figures are wanted as bigints: nothing but true says so. */
export function isBigint(options: Given): boolean {
  return options['bigint'] === true;
}

function checkEncoding(encoding: unknown, platform: Platform): void {
  if (!encoding || encoding === 'utf8' || encoding === 'buffer' || platform.isEncoding(encoding)) return;
  throw invalidValue('encoding', encoding, 'is invalid encoding');
}

/** The encoding of a name that is answered: text in UTF-8, unless something else was asked for. */
export function nameEncoding(options: Given): string {
  return (options['encoding'] as string | null | undefined) || 'utf8';
}

/** A name in the encoding that was asked for. */
export function encodeName(name: string, encoding: string, platform: Platform): string | Uint8Array {
  if (encoding === 'utf8' || encoding === 'utf-8') return name;
  const bytes = platform.encode(name, 'utf8');
  return encoding === 'buffer' ? bytes : platform.decode(bytes, encoding);
}
