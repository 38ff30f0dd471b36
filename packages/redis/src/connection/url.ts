import type { RedisStorageOptions } from '../options.js';

/** A server's address without our parameters, and the options that they set. */
export interface ParsedUrl {
  /** URL for ioredis. */
  readonly server: string;
  readonly options: RedisStorageOptions;
}

/**
 * Parses `redis://[user:password@]host:port/db?namespace=…&keyPrefix=…&ttlMs=…&timeoutMs=…`; `rediss:` uses TLS. Port,
 * database and parameters may be left out.
 * @throws TypeError for an invalid URL. The message never contains the URL, which may carry a password
 */
export function parseUrl(text: string): ParsedUrl {
  const url = tryUrl(text);
  if (url === undefined || (url.protocol !== 'redis:' && url.protocol !== 'rediss:') || url.hostname === '')
    throw new TypeError('A Redis URL must look like redis://host:6379/0?namespace=name');
  const options: Record<string, unknown> = {};
  for (const [key, value] of url.searchParams) {
    if (Object.hasOwn(options, key)) throw new TypeError(`The Redis URL gives ${JSON.stringify(key)} twice`);
    if (key === 'namespace' || key === 'keyPrefix') options[key] = value;
    else if (key === 'ttlMs' || key === 'timeoutMs') options[key] = wholeNumber(key, value);
    // The message does not name the parameter: it may be part of a password that was not encoded.
    else
      throw new TypeError(
        'The Redis URL has an unknown parameter. Known are namespace, keyPrefix, ttlMs, timeoutMs; a ? or & in a password is %3F or %26',
      );
  }
  if (!/^(\/\d*)?$/.test(url.pathname)) throw new TypeError('The path of a Redis URL must be the number of a database');
  url.search = '';
  url.hash = '';
  return { server: url.href, options: options as RedisStorageOptions };
}

function tryUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function wholeNumber(key: string, value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new TypeError(`${key} in a Redis URL must be a whole number`);
  return Number(value);
}
