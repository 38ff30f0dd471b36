import { fileURLToPath } from 'node:url';
import { quote } from '@scratchfs/core';
import { checkFileSystemName, checkOptions } from '@scratchfs/core/internal';
import { OBJECT_TREE_OPTIONS, type ObjectTreeOptions } from '@scratchfs/core/object-tree';

export interface DiskStorageOptions extends ObjectTreeOptions {
  /**
   * Name of the filesystem; a directory holds any number of them. 1 to 100 characters of `a-z`, `0-9`, `-`, `_` and
   * `.`, beginning with a letter or digit. Default `default`.
   */
  readonly name?: string | undefined;
  /**
   * Failures that a completed write survives. `fsync`: a power failure; every commit waits for the disk. `process`: the
   * end of the process, also by kill -9; after a power failure the newest commits may be missing or damaged. Default
   * `fsync`. All clients of a filesystem must use `fsync` for its promise to hold.
   */
  readonly durability?: 'fsync' | 'process' | undefined;
}

/** Checked options with their defaults; those of the object tree are checked there. */
export interface Settings {
  /** Path of the directory that holds the filesystems, as it was given or from the URL. */
  readonly directory: string;
  readonly name: string;
  readonly isFlushed: boolean;
  readonly tree: ObjectTreeOptions;
}

/**
 * Checks what a caller has given; own properties only.
 * @throws TypeError for a wrong value, an unknown option, or a URL that is not one of a directory
 */
export function parseOptions(target: unknown, options: DiskStorageOptions | undefined): Settings {
  const known = ['name', 'durability', ...OBJECT_TREE_OPTIONS];
  const { name, durability, ...tree } = checkOptions<DiskStorageOptions>(options, known, 'DiskStorage', false);
  const { directory, parameters } = parseTarget(target);
  const settings = { name: name ?? parameters.get('name'), durability: durability ?? parameters.get('durability') };
  return {
    directory,
    name: checkFileSystemName(settings.name ?? undefined),
    isFlushed: isFlushed(settings.durability),
    tree,
  };
}

/** Returns the directory that a path or a `file:` URL names, and the parameters of the URL. */
export function parseTarget(target: unknown): { readonly directory: string; readonly parameters: URLSearchParams } {
  const isUrl = target instanceof URL || (typeof target === 'string' && /^file:/i.test(target));
  if (!isUrl) {
    if (typeof target !== 'string' || target === '' || target.includes('\0'))
      throw new TypeError('The directory of a DiskStorage must be a path or a file: URL');
    return { directory: target, parameters: new URLSearchParams() };
  }
  let url: URL;
  try {
    url = new URL(target);
    if (url.hash !== '' || !/^file:\/\/(localhost)?\//i.test(String(target))) throw new TypeError('not absolute');
    const directory = fileURLToPath(new URL(url.pathname, `file://${url.host}`));
    for (const [key] of url.searchParams)
      if (key !== 'name' && key !== 'durability')
        throw new TypeError(`The URL has an unknown parameter ${quote(key)}. Known are name, durability`);
    return { directory, parameters: url.searchParams };
  } catch (error) {
    if (error instanceof TypeError && /unknown parameter/.test(error.message)) throw error;
    throw new TypeError('The URL of a DiskStorage must look like file:///path/of/a/directory?name=main', {
      cause: error,
    });
  }
}

function isFlushed(durability: unknown): boolean {
  if (durability === undefined || durability === null || durability === 'fsync') return true;
  if (durability === 'process') return false;
  throw new TypeError(`durability must be "fsync" or "process", not ${quote(String(durability))}`);
}
