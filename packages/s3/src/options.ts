import type { AsyncStorageOptions } from '@scratchfs/core';
import type { ObjectTreeOptions } from '@scratchfs/core/object-tree';

export interface S3StorageOptions extends AsyncStorageOptions {
  /** Bucket of the filesystem. Required with a client; a URL contains it. */
  readonly bucket?: string | undefined;
  /** Prefix of every key: any number of filesystems can share a bucket. A slash is appended. Default none. */
  readonly prefix?: string | undefined;
  /** Create the filesystem if it does not exist; with false: `StorageError` of kind `lost`. Default true. */
  readonly create?: boolean | undefined;
  /** Milliseconds by which a read may be stale; 0 reads the head for every read. Default 0. */
  readonly maxStalenessMs?: number | undefined;
  /** Milliseconds after which a request without a response fails. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Memory for cached objects, in bytes. Default 64 MiB. */
  readonly maxCacheBytes?: number | undefined;
  /**
   * Use a store without conditional writes. Only one process may write then: a second one is detected late, possibly
   * after one has overwritten the other's writes. Default false.
   */
  readonly singleWriter?: boolean | undefined;
}

const OPTION_NAMES = [
  'bucket',
  'prefix',
  'create',
  'maxStalenessMs',
  'timeoutMs',
  'maxCacheBytes',
  'singleWriter',
  'retries',
  'clock',
  'random',
  'timer',
] as const satisfies readonly (keyof S3StorageOptions)[];

/** Checked options with their defaults. */
export interface Settings {
  readonly bucket: string | undefined;
  readonly prefix: string;
  readonly singleWriter: boolean;
  readonly tree: ObjectTreeOptions;
  readonly engine: AsyncStorageOptions;
}

/**
 * Checks a caller's options; own properties only.
 * @throws TypeError for a wrong type or an unknown option; RangeError for a number out of range
 */
export function parseOptions(options: S3StorageOptions = {}): Settings {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('The options of an S3Storage must be an object');
  const given: Partial<Record<(typeof OPTION_NAMES)[number], unknown>> = {};
  for (const key of Object.keys(options)) {
    if (!(OPTION_NAMES as readonly string[]).includes(key))
      throw new TypeError(
        `Unknown option ${JSON.stringify(key.slice(0, 100))} of an S3Storage. Known are ${OPTION_NAMES.join(', ')}`,
      );
    given[key as keyof S3StorageOptions] = options[key as keyof S3StorageOptions];
  }
  const { clock, random, timer } = options;
  const shared = { clock, random, timer };
  return {
    bucket: text(given.bucket, 'bucket'),
    prefix: asFolder(text(given.prefix, 'prefix') ?? ''),
    singleWriter: flag(given.singleWriter, 'singleWriter') ?? false,
    tree: {
      ...shared,
      create: flag(given.create, 'create'),
      maxStalenessMs: number(given.maxStalenessMs, 'maxStalenessMs', 0),
      timeoutMs: number(given.timeoutMs, 'timeoutMs', 1),
      maxCacheBytes: number(given.maxCacheBytes, 'maxCacheBytes', 0),
      retries: number(given.retries, 'retries', 0),
    },
    engine: { ...shared, retries: number(given.retries, 'retries', 0) },
  };
}

/** Returns a prefix as a folder: `a` and `a/` are the same one, and not a prefix of another. */
export function asFolder(prefix: string): string {
  return prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
}

function text(value: unknown, name: string): string | undefined {
  if (value !== undefined && typeof value !== 'string')
    throw new TypeError(`${name} must be a text, not ${typeof value}`);
  return value;
}

function number(value: unknown, name: string, least: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, not ${typeof value}`);
  if (!Number.isSafeInteger(value) || value < least)
    throw new RangeError(`${name} must be a whole number of at least ${least}, not ${value}`);
  return value;
}

function flag(value: unknown, name: string): boolean | undefined {
  if (value !== undefined && typeof value !== 'boolean')
    throw new TypeError(`${name} must be true or false, not ${typeof value}`);
  return value;
}
