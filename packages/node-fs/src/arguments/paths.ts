import { FsError } from '@scratchfs/core';
import { coded, invalidType, invalidValue } from '../errors/argument-errors.js';
import { nodeError } from '../errors/node-error.js';

const EXPECTED = 'of type string or an instance of Buffer or URL';
const NO_NULL = 'must be a string, Uint8Array, or URL without null bytes';
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Converts a path to text. Bytes are UTF-8; a `file:` URL names a path. */
export function toPath(value: unknown, name = 'path'): string {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalidValue(name, value, NO_NULL);
    return value;
  }
  if (value instanceof Uint8Array) return fromBytes(value, name);
  if (isUrl(value)) return toPath(pathOfUrl(value), name);
  throw invalidType(name, EXPECTED, value);
}

function fromBytes(bytes: Uint8Array, name: string): string {
  if (bytes.includes(0)) throw invalidValue(name, bytes, NO_NULL);
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw nodeError(new FsError('EINVAL', { hint: `The ${name} is not valid UTF-8`, cause }));
  }
}

interface FileUrl {
  readonly href: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly pathname: string;
}

/**
 * Detects URLs by shape, so that those of other realms and libraries count. Objects of the legacy `url.parse`, which
 * have `auth` and `path`, do not.
 */
function isUrl(value: unknown): value is FileUrl {
  const url = value as { href?: unknown; protocol?: unknown; auth?: unknown; path?: unknown } | null | undefined;
  return Boolean(url?.href && url.protocol && url.auth === undefined && url.path === undefined);
}

function pathOfUrl({ protocol, hostname, pathname }: FileUrl): string {
  if (protocol !== 'file:') throw coded(new TypeError('The URL must be of scheme file'), 'ERR_INVALID_URL_SCHEME');
  if (hostname !== '') {
    throw coded(new TypeError('File URL host must be "localhost" or empty on linux'), 'ERR_INVALID_FILE_URL_HOST');
  }
  if (/%2f/i.test(pathname)) {
    throw coded(new TypeError('File URL path must not include encoded / characters'), 'ERR_INVALID_FILE_URL_PATH');
  }
  return decodeURIComponent(pathname);
}
