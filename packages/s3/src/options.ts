import type { AsyncStorageOptions, Limits } from '@scratchfs/core';
import type { ObjectTreeOptions } from '@scratchfs/core/object-tree';

export interface S3StorageOptions extends AsyncStorageOptions {
  /** Where the filesystem lies. Needed with a client; a URL says it itself. */
  readonly bucket?: string | undefined;
  /** Before every key: any number of filesystems live side by side in a bucket. A slash is put behind it. Default none. */
  readonly prefix?: string | undefined;
  /** Make the filesystem where there is none; false: `StorageError` of kind `lost` then. Default true. */
  readonly create?: boolean | undefined;
  /** Kept in the head of a filesystem that is made; every client obeys them, beside its own. */
  readonly limits?: Limits | undefined;
  /** Milliseconds that a read may be behind; 0 asks for the head with every read. Default 0. */
  readonly maxStalenessMs?: number | undefined;
  /** Milliseconds after which an unanswered request is given up. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Bytes of objects that are kept in memory. Default 64 MiB. */
  readonly maxCacheBytes?: number | undefined;
  /**
   * Use a store without conditional writes. Only one process may write then: a second one is noticed late, when one has
   * perhaps overwritten what the other did. Default false.
   */
  readonly singleWriter?: boolean | undefined;
}

const OPTION_NAMES = [
  'bucket',
  'prefix',
  'create',
  'limits',
  'maxStalenessMs',
  'timeoutMs',
  'maxCacheBytes',
  'singleWriter',
  'retries',
  'clock',
  'random',
  'timer',
] as const satisfies readonly (keyof S3StorageOptions)[];

/** Options after checking, with their defaults. */
export interface Settings {
  readonly bucket: string | undefined;
  readonly prefix: string;
  readonly singleWriter: boolean;
  readonly tree: ObjectTreeOptions;
  readonly engine: AsyncStorageOptions;
}

/**
 * Checks options as a caller gave them; own properties only.
 * @throws TypeError for a wrong kind or an unknown option; RangeError for a number out of range
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
      limits: options.limits,
      maxStalenessMs: number(given.maxStalenessMs, 'maxStalenessMs', 0),
      timeoutMs: number(given.timeoutMs, 'timeoutMs', 1),
      maxCacheBytes: number(given.maxCacheBytes, 'maxCacheBytes', 0),
      retries: number(given.retries, 'retries', 0),
    },
    engine: { ...shared, retries: number(given.retries, 'retries', 0) },
  };
}

/** A prefix is a folder: `a` and `a/` are the same one, and no prefix of another. */
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
