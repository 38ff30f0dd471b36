import { toBits, toMode } from '../arguments/mode.js';
import { encodeName, type Given, nameEncoding, toOptions } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkBoolean } from '../arguments/values.js';
import { constants } from '../constants.js';
import { coded } from '../errors/argument-errors.js';
import { nodeError } from '../errors/node-error.js';
import { nodeFunction } from '../node-function.js';

function mkdirOf(modeOfNone?: number) {
  return nodeFunction(
    2,
    ({ umask }, path, options) => {
      const isMode = typeof options === 'number' || typeof options === 'string';
      const { recursive = false, mode = 0o777 } = (isMode ? { mode: options } : (options ?? {})) as Given;
      return {
        path: toPath(path),
        // mkdir(2) on Linux ignores the set-id bits of the mode.
        options: {
          recursive: checkBoolean(recursive, 'options.recursive'),
          mode: toMode(mode, modeOfNone) & 0o1777 & ~umask,
        },
      };
    },
    ({ driver }, { path, options }) => driver.fs.mkdir(path, options),
  );
}

export const mkdir = mkdirOf();
/** `mkdir` of promises: a mode of null means the default one. */
export const mkdirLater = mkdirOf(0o777);

/** Number of random characters after the prefix. */
const RANDOM_CHARACTERS = 6;

export const mkdtemp = nodeFunction(
  2,
  ({ platform }, prefix, options) => ({
    encoding: nameEncoding(toOptions(options, platform)),
    prefix: toPath(prefix, 'prefix'),
  }),
  ({ driver, platform }, { prefix, encoding }) =>
    driver.map(driver.fs.mkdtemp(prefix), (path) =>
      encodeName(prefix + path.slice(-RANDOM_CHARACTERS), encoding, platform),
    ),
  (error, { prefix }) => nodeError(error, { syscall: 'mkdtemp', path: `${prefix}XXXXXX` }),
);

export const unlink = nodeFunction(
  1,
  (_, path) => toPath(path),
  ({ driver }, path) => driver.fs.unlink(path),
);

export const rename = nodeFunction(
  2,
  (_, from, to) => ({ from: toPath(from, 'oldPath'), to: toPath(to, 'newPath') }),
  ({ driver }, { from, to }) => driver.fs.rename(from, to),
);

export const link = nodeFunction(
  2,
  (_, existing, path) => ({ existing: toPath(existing, 'existingPath'), path: toPath(path, 'newPath') }),
  ({ driver }, { existing, path }) => driver.fs.link(existing, path),
);

const LINK_TYPES = new Set<unknown>(['dir', 'file', 'junction']);

/** `symlink`. The third argument, which matters on Windows, is checked and has no effect. */
export const symlink = nodeFunction(
  3,
  (_, target, path, type) => {
    const call = { target: toPath(target, 'target'), path: toPath(path) };
    if (typeof type !== 'string' || LINK_TYPES.has(type)) return call;
    const message = `Symlink type must be one of "dir", "file", or "junction". Received "${type}"`;
    throw coded(new Error(message), 'ERR_FS_INVALID_SYMLINK_TYPE');
  },
  ({ driver }, { target, path }) => driver.fs.symlink(target, path),
);

export const readlink = nodeFunction(
  2,
  ({ platform }, path, options) => ({
    encoding: nameEncoding(toOptions(options, platform)),
    path: toPath(path, 'oldPath'),
  }),
  ({ driver, platform }, { path, encoding }) =>
    driver.map(driver.fs.readlink(path), (target) => encodeName(target, encoding, platform)),
);

export const copyFile = nodeFunction(
  3,
  (_, source, destination, mode) => ({
    source: toPath(source, 'src'),
    destination: toPath(destination, 'dest'),
    exclusive: (toBits(mode) & constants.COPYFILE_EXCL) !== 0,
  }),
  ({ driver }, { source, destination, exclusive }) => driver.fs.copyFile(source, destination, { exclusive }),
);
