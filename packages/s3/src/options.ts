import { checkOptions } from '@scratchfs/core/internal';
import { OBJECT_TREE_OPTIONS, type ObjectTreeOptions } from '@scratchfs/core/object-tree';

export interface S3StorageOptions extends ObjectTreeOptions {
  /** Bucket of the filesystem. Required with a client. Not allowed with a URL, which contains it. */
  readonly bucket?: string | undefined;
  /**
   * Prefix of every key: any number of filesystems can share a bucket. A slash is appended unless it is empty or ends
   * in one. Not allowed with a URL, which contains it. Default none.
   */
  readonly prefix?: string | undefined;
  /**
   * Use a store without conditional writes. Only one process may write then: a second one is detected late, possibly
   * after one has overwritten the other's writes. Default false.
   */
  readonly singleWriter?: boolean | undefined;
}

/** Checked options with their defaults. The object tree checks its own options, `tree`, later. */
export interface Settings {
  readonly bucket: string | undefined;
  readonly prefix: string;
  readonly singleWriter: boolean;
  readonly tree: ObjectTreeOptions;
}

/**
 * Checks a caller's options, except the values of `tree`; own properties only.
 * @throws TypeError for a wrong type or an unknown option
 */
export function parseOptions(options: S3StorageOptions | undefined): Settings {
  const known = ['bucket', 'prefix', 'singleWriter', ...OBJECT_TREE_OPTIONS];
  const { bucket, prefix, singleWriter, ...tree } = checkOptions<S3StorageOptions>(options, known, 'S3Storage', false);
  return {
    bucket: text(bucket, 'bucket'),
    prefix: asFolder(text(prefix, 'prefix') ?? ''),
    singleWriter: flag(singleWriter, 'singleWriter') ?? false,
    tree,
  };
}

/**
 * Appends a slash unless the prefix is empty or ends in one, so that the keys of prefix `a` are not also those of `ab`.
 */
export function asFolder(prefix: string): string {
  return prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
}

function text(value: unknown, name: string): string | undefined {
  if (value !== undefined && typeof value !== 'string')
    throw new TypeError(`${name} must be a text, not ${typeof value}`);
  return value;
}

function flag(value: unknown, name: string): boolean | undefined {
  if (value !== undefined && typeof value !== 'boolean')
    throw new TypeError(`${name} must be true or false, not ${typeof value}`);
  return value;
}
