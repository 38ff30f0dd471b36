import { isFsError } from '@scratchfs/core';
import type { Given } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkBoolean, checkInt32, checkObject, checkUint32 } from '../arguments/values.js';
import { nodeError } from '../errors/node-error.js';
import { systemError } from '../errors/system-error.js';
import { awaited, type FsDriver, type FsProcedure } from '../fs-driver.js';
import { nodeFunction } from '../node-function.js';

interface Removal {
  readonly recursive: boolean;
  readonly force: boolean;
}

const DEFAULTS = { recursive: false, force: false, retryDelay: 100, maxRetries: 0 };

/** Checks the options. Options for retries have no effect. */
function toRemoval(options: unknown): Removal {
  if (options === undefined) return DEFAULTS;
  const given: Given = { ...DEFAULTS, ...checkObject(options, 'options') };
  const recursive = checkBoolean(given['recursive'], 'options.recursive');
  checkInt32(given['retryDelay'], 'options.retryDelay', 0);
  checkUint32(given['maxRetries'], 'options.maxRetries');
  return { recursive, force: checkBoolean(given['force'], 'options.force') };
}

const EISDIR = 21;
/** Errors that Node reports from the lstat before it removes anything. */
const FOUND_BY_LSTAT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EINVAL'];

export const rm = nodeFunction(
  2,
  (_, path, options) => ({ path: toPath(path), options: toRemoval(options) }),
  ({ driver }, { path, options }) => driver.fs.rm(path, { recursive: options.recursive, force: options.force }),
  (error, { path, options }) => {
    if (!isFsError(error)) return nodeError(error);
    if (error.code === 'EISDIR') {
      const info = { code: 'EISDIR', message: 'is a directory', path, syscall: 'rm', errno: EISDIR };
      return systemError('ERR_FS_EISDIR', info);
    }
    const syscall = FOUND_BY_LSTAT.includes(error.code) ? 'lstat' : options.recursive ? 'rmdir' : 'unlink';
    return nodeError(error, { syscall, path });
  },
);

export const rmdir = nodeFunction(
  2,
  (_, path, options) => ({
    path: toPath(path),
    // `rmdir` does not support `force` and does not check it.
    options: toRemoval(options === undefined ? options : { ...checkObject(options, 'options'), force: false }),
  }),
  ({ driver }, { path, options }) => (options.recursive ? driver.run(removeAll(driver, path)) : driver.fs.rmdir(path)),
);

/** `rmdir` with `recursive`, from before `rm` existed. For a file it calls `rmdir`, which fails. */
function* removeAll(driver: FsDriver, path: string): FsProcedure<void> {
  const isDirectory = (yield* awaited(driver.fs.lstat(path))).isDirectory();
  yield* awaited(isDirectory ? driver.fs.rm(path, { recursive: true }) : driver.fs.rmdir(path));
}
