import { coded } from '../errors/argument-errors.js';
import type { Platform } from '../platform.js';
import { codecOf } from './encodings.js';

export const webPlatform: Platform = {
  bytes: (bytes) => bytes,
  isEncoding: (name) => codecOf(name) !== undefined,
  decode: (bytes, encoding) => codec(encoding).decode(bytes),
  encode: (text, encoding) => codec(encoding).encode(text),
  defer: (callback) => queueMicrotask(callback),
};

function codec(encoding: string): NonNullable<ReturnType<typeof codecOf>> {
  const found = codecOf(encoding);
  if (found === undefined) throw coded(new TypeError(`Unknown encoding: ${encoding}`), 'ERR_UNKNOWN_ENCODING');
  return found;
}
