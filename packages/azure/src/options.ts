import type { ContainerClient } from '@azure/storage-blob';
import { checkFileSystemName, checkOptions, parseServiceUrl } from '@scratchfs/core/internal';
import { OBJECT_TREE_OPTIONS, type ObjectTreeOptions } from '@scratchfs/core/object-tree';
import { fromEnvironment, sendingOnce } from './container-client.js';

export interface AzureBlobStorageOptions extends ObjectTreeOptions {
  /**
   * Name of the filesystem; a container holds any number of them. 1 to 100 characters of `a-z`, `0-9`, `-`, `_` and
   * `.`, beginning with a letter or digit. Not allowed with a URL, which contains it. Default `default`.
   */
  readonly name?: string | undefined;
}

/** A container and the client that reaches it. */
export interface Container {
  readonly client: () => Promise<ContainerClient>;
  readonly name: string;
}

export interface Settings {
  readonly container: Container;
  readonly name: string;
  readonly tree: ObjectTreeOptions;
}

/** Names that Azure accepts for containers. */
const CONTAINER_NAME = /^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*$/;

/**
 * Checks a caller's arguments, except the values of `tree`; own properties of the options only.
 * @throws TypeError for a wrong type, an unknown option, an invalid name or URL
 */
export function parseOptions(target: ContainerClient | string, options: AzureBlobStorageOptions | undefined): Settings {
  const known = ['name', ...OBJECT_TREE_OPTIONS];
  const { name, ...tree } = checkOptions<AzureBlobStorageOptions>(options, known, 'AzureBlobStorage', false);
  const { container, name: nameInUrl } = parseTarget(target);
  if (typeof target === 'string' && name !== undefined)
    throw new TypeError('A URL says the name itself: leave the option out');
  return { container, name: checkFileSystemName(nameInUrl ?? name), tree };
}

/** @throws TypeError for a client or a URL of a wrong kind */
export function parseTarget(target: ContainerClient | string): {
  readonly container: Container;
  readonly name: string | undefined;
} {
  if (typeof target !== 'string') {
    const client = sendingOnce(target);
    return { container: { client: async () => client, name: client.containerName }, name: undefined };
  }
  const { host, path } = parseServiceUrl(target, 'azure', 'an AzureBlobStorage', 'azure://container/name', []);
  if (!CONTAINER_NAME.test(host))
    throw new TypeError(
      'An AzureBlobStorage needs the name of a container: 3 to 63 characters of a-z, 0-9 and single "-" between them',
    );
  return { container: { client: fromEnvironment(host), name: host }, name: path === '' ? undefined : path };
}
