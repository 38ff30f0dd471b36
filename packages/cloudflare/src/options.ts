import { checkFileSystemName, checkOptions } from '@scratchfs/core/internal';
import { OBJECT_TREE_OPTIONS, type ObjectTreeOptions } from '@scratchfs/core/object-tree';

/** Options of {@link R2Storage} and {@link DurableObjectStorage}. */
export interface CloudflareStorageOptions extends ObjectTreeOptions {
  /**
   * Name of the filesystem; a bucket or Durable Object holds any number of them. 1 to 100 characters of `a-z`, `0-9`,
   * `-`, `_` and `.`, beginning with a letter or digit. Default `default`.
   */
  readonly name?: string | undefined;
}

/**
 * Checks a caller's options, except the values of `tree`; own properties only.
 * @throws TypeError for an unknown option or an impossible name
 */
export function parseOptions(
  className: string,
  options: CloudflareStorageOptions | undefined,
): { readonly name: string; readonly tree: ObjectTreeOptions } {
  const { name, ...tree } = checkOptions<CloudflareStorageOptions>(
    options,
    ['name', ...OBJECT_TREE_OPTIONS],
    className,
    false,
  );
  return { name: checkFileSystemName(name), tree };
}
