import { quote } from '@scratchfs/core';
import { checkOptions } from '@scratchfs/core/internal';
import { OBJECT_TREE_OPTIONS, type ObjectTreeOptions } from '@scratchfs/core/object-tree';

export interface SqlStorageOptions extends ObjectTreeOptions {
  /**
   * Name of the filesystem; a database holds any number of them. 1 to 100 characters of `a-z`, `0-9`, `-`, `_` and `.`,
   * beginning with a letter or digit. Default `default`.
   */
  readonly name?: string | undefined;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/**
 * Checks what a caller has given; own properties only.
 * @throws TypeError for a wrong type, an unknown option or a name that is not possible
 */
export function parseOptions(
  what: string,
  options: SqlStorageOptions | undefined,
): { readonly name: string; readonly tree: ObjectTreeOptions } {
  const { name = 'default', ...tree } = checkOptions<SqlStorageOptions>(
    options,
    ['name', ...OBJECT_TREE_OPTIONS],
    what,
    false,
  );
  if (typeof name !== 'string') throw new TypeError(`name must be a text, not ${typeof name}`);
  if (!NAME.test(name))
    throw new TypeError(
      `${quote(name)} cannot be the name of a filesystem. Allowed are 1 to 100 characters of a-z, 0-9, "-", "_" and ` +
        '".", beginning with a letter or digit',
    );
  return { name, tree };
}

/** Removes the parameter `name` from a URL: it is ours, the rest belongs to the driver. */
export function takeName(url: string): { readonly url: string; readonly name: string | undefined } {
  const found = /([?&])name=([^&#]*)(&?)/.exec(url);
  if (found === null) return { url, name: undefined };
  const [whole, before, name, after] = found as unknown as [string, string, string, string];
  return { url: url.replace(whole, after === '' ? '' : before), name: decodeURIComponent(name) };
}
