import { quote } from '@scratchfs/core';
import { checkFileSystemName, checkOptions } from '@scratchfs/core/internal';
import { OBJECT_TREE_OPTIONS, type ObjectTreeOptions } from '@scratchfs/core/object-tree';

export interface SqlStorageOptions extends ObjectTreeOptions {
  /**
   * Name of the filesystem; a database holds any number of them. 1 to 100 characters of `a-z`, `0-9`, `-`, `_` and `.`,
   * beginning with a letter or digit. Default `default`.
   */
  readonly name?: string | undefined;
}

/**
 * Checks a caller's options; own properties only. The option `name` takes precedence over the name in the URL.
 * @throws TypeError for a wrong type, an unknown option or an invalid name
 */
export function parseOptions(
  what: string,
  options: SqlStorageOptions | undefined,
  nameInUrl: string | undefined,
): { readonly name: string; readonly tree: ObjectTreeOptions } {
  const { name = nameInUrl ?? 'default', ...tree } = checkOptions<SqlStorageOptions>(
    options,
    ['name', ...OBJECT_TREE_OPTIONS],
    what,
    false,
  );
  return { name: checkFileSystemName(name), tree };
}

/**
 * Takes the parameter `name` out of a URL. The other parameters stay.
 * @throws TypeError if there are several, or the name is not encoded correctly
 */
export function takeName(url: string): { readonly url: string; readonly name: string | undefined } {
  const [base = '', ...query] = url.split('?');
  const all = query.join('?').split('&');
  const names = all.filter((parameter) => parameter.startsWith('name='));
  if (names.length > 1) throw new TypeError('The URL of a storage has more than one parameter name');
  if (names.length === 0) return { url, name: undefined };
  const others = all.filter((parameter) => !names.includes(parameter)).join('&');
  return { url: others === '' ? base : `${base}?${others}`, name: decode((names[0] as string).slice('name='.length)) };
}

/** Decodes a part of a URL. @throws TypeError if it is not encoded correctly */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new TypeError(`${quote(text)} is not a part of a URL: a "%" itself is written as %25`, { cause });
  }
}
