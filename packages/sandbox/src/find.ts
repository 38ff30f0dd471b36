import {
  baseName,
  type EntryKind,
  type FileSystem,
  FsError,
  isFsError,
  joinPath,
  parentPath,
  type Stats,
} from '@scratchfs/core';
import { type CallSequence, invoke, PathWalk } from '@scratchfs/core/internal';
import { SuffixNotAllowedError } from './errors.js';

/** End of a path. */
export interface Found {
  readonly path: string;
  /** Undefined if nothing exists there, or a file that is hidden because of its suffix. */
  readonly kind: EntryKind | undefined;
}

/**
 * Follows links to the end of a path. If nothing exists there, the result is the path at which a write would create it.
 * A file whose suffix is not allowed counts as missing, so that the result does not tell whether it exists. The
 * filesystem follows or reports each link, so that its guard sees each step.
 * @throws FsError ELOOP for too many links, and what else the filesystem throws
 */
export function* find(fileSystem: FileSystem, path: string): CallSequence<Found> {
  try {
    const real = yield* invoke<string>(fileSystem, 'realpath', [path]);
    return { path: real, kind: (yield* invoke<Stats>(fileSystem, 'lstat', [real])).kind };
  } catch (error) {
    if (!isUnseen(error)) throw error;
    return yield* findMissing(fileSystem, path);
  }
}

/** Like {@link find}, but does not follow the last name if it is a link. */
export function* findName(fileSystem: FileSystem, path: string): CallSequence<Found> {
  if (path === '/') return { path, kind: 'directory' };
  const parent = yield* find(fileSystem, parentPath(path));
  const name = joinPath(parent.path, baseName(path));
  return { path: name, kind: yield* kindOf(fileSystem, name) };
}

function* findMissing(fileSystem: FileSystem, path: string): CallSequence<Found> {
  const walk = new PathWalk(path);
  let kind: EntryKind | undefined = 'directory';
  for (let child = walk.next(); child !== undefined; child = walk.next()) {
    kind = kind === undefined ? undefined : yield* kindOf(fileSystem, child);
    if (kind === 'symlink') {
      if (!walk.hop()) throw new FsError('ELOOP', { syscall: 'realpath', path });
      walk.follow(yield* invoke<string>(fileSystem, 'readlink', [child]));
      kind = 'directory';
    } else walk.at = child;
  }
  return { path: walk.at, kind };
}

function* kindOf(fileSystem: FileSystem, path: string): CallSequence<EntryKind | undefined> {
  try {
    return (yield* invoke<Stats>(fileSystem, 'lstat', [path])).kind;
  } catch (error) {
    if (isUnseen(error)) return undefined;
    throw error;
  }
}

/** Reports whether an error means that nothing can be seen at a path. */
function isUnseen(error: unknown): boolean {
  return isAbsent(error) || error instanceof SuffixNotAllowedError;
}

/** Reports whether an error means that nothing exists at a path. */
export function isAbsent(error: unknown): boolean {
  return isFsError(error, 'ENOENT') || isFsError(error, 'ENOTDIR');
}
