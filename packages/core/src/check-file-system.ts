import { describe } from './engine/arguments.js';
import type { FileSystem } from './file-system.js';

/** Returns the value. @throws TypeError if it is not a filesystem, so that the mistake shows before the first call */
export function checkFileSystem(value: FileSystem, what = 'fileSystem'): FileSystem {
  const methods = value as Partial<FileSystem> | null | undefined;
  if (typeof methods?.readFile === 'function' && typeof methods.iterate === 'function') return value;
  throw new TypeError(`${what} must be a filesystem, as createFileSystem makes it, not ${describe(value)}`);
}
