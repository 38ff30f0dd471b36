import type { FileSystem } from '@scratchfs/core';
import type { Given } from './arguments/options.js';
import { Descriptors } from './descriptors.js';
import { driverFor } from './fs-driver.js';
import type { Facade } from './node-function.js';
import type { Platform } from './platform.js';

export interface NodeFsOptions {
  /** Permission bits removed from new files and directories. Default 0o022. */
  readonly umask?: number | undefined;
}

const DEFAULT_UMASK = 0o022;
const MAX_UMASK = 0o777;

/**
 * @throws TypeError if `fileSystem` is not a filesystem, for an unknown option, and for a umask that is not a number;
 *   RangeError unless the umask is an integer from 0 to 0o777
 */
export function makeFacade(fileSystem: FileSystem, platform: Platform, options: NodeFsOptions = {}): Facade {
  if (typeof (fileSystem as Partial<FileSystem> | null)?.readFile !== 'function') {
    throw new TypeError('createNodeFs takes a filesystem, as createFileSystem makes it');
  }
  for (const name of Object.keys(options)) {
    if (name !== 'umask') throw new TypeError(`createNodeFs has no option '${name}'. It takes umask`);
  }
  const { umask = DEFAULT_UMASK } = options as Given;
  if (typeof umask !== 'number') throw new TypeError(`umask must be a number, not ${typeof umask}`);
  if (!Number.isInteger(umask) || umask < 0 || umask > MAX_UMASK) {
    throw new RangeError(`umask must be an integer from 0 to ${MAX_UMASK}, not ${umask}`);
  }
  return { driver: driverFor(fileSystem), platform, descriptors: new Descriptors(), umask };
}
