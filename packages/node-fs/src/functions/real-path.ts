import { FsError, isFsError } from '@scratchfs/core';
import { encodeName, nameEncoding, toOptions } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { awaited, type FsProcedure } from '../fs-driver.js';
import { type Facade, type NodeFunction, nodeFunction } from '../node-function.js';

interface RealPath {
  readonly path: string;
  readonly encoding: string;
}

type Name = string | Uint8Array;

const prepare = ({ platform }: Facade, path?: unknown, options?: unknown): RealPath => ({
  encoding: nameEncoding(toOptions(options, platform)),
  path: toPath(path),
});

/** `realpath.native`, and `realpath` of `promises`. */
export const realpathNative: NodeFunction<RealPath, Name> = nodeFunction(
  2,
  prepare,
  ({ driver, platform }, { path, encoding }) =>
    driver.map(driver.fs.realpath(path), (real) => encodeName(real, encoding, platform)),
);

/**
 * Like {@link realpathNative}, but an empty path means `/`, the current directory. An error names the first part of the
 * path that fails, and the call that examined it.
 */
export const realpath: NodeFunction<RealPath, Name> = nodeFunction(
  2,
  (facade, ...given) => {
    const { path, encoding } = prepare(facade, ...given);
    return { path: path === '' ? '/' : path, encoding };
  },
  (facade, call) => facade.driver.run(resolve(facade, call)),
);

function* resolve({ driver, platform }: Facade, { path, encoding }: RealPath): FsProcedure<Name> {
  try {
    return encodeName(yield* awaited(driver.fs.realpath(path)), encoding, platform);
  } catch (error) {
    if (!isFsError(error)) throw error;
    let part = '';
    for (const name of path.split(/[/\\]/)) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        part = part.slice(0, Math.max(0, part.lastIndexOf('/')));
        continue;
      }
      part += `/${name}`;
      // A link is followed: if its target does not exist, that is the error.
      if ((yield* awaited(driver.fs.lstat(part))).isSymbolicLink()) yield* awaited(driver.fs.stat(part));
    }
    throw new FsError(error.code, { syscall: 'lstat', path });
  }
}
