import type { Stats } from '../../entry.js';
import { FsError, isFsError } from '../../errors.js';
import { joinPath, normalizePath, parentPath } from '../../paths.js';
import { type CallSequence, invoke } from '../call-sequence.js';
import type { PathUse } from '../method-table.js';
import { lookAt, PathWalk } from '../path-walk.js';
import { withPaths } from '../with-paths.js';
import type { Inside, Mounted, Namespace } from './namespace.js';

/**
 * The end of a resolved path. It has no links, except perhaps its last name, or if the filesystem is to report a path
 * that cannot be resolved. Names after a missing one are kept, except in the target of a dangling link.
 */
export interface Place extends Inside {
  readonly given: string;
  readonly path: string;
  /** The path is invalid: any filesystem reports it when called. */
  readonly isBad?: boolean;
}

interface Arrival {
  readonly path: string;
  /**
   * Set if the path is, or is in, a directory that leads to a mount point and is missing in its filesystem: that
   * directory.
   */
  readonly hollow: string | undefined;
}

/** Finds the filesystem of a path. Before a write, creates a missing directory that leads to a mount point. */
export function* placeOf(space: Namespace, use: PathUse, syscall: string, makesParents = false): CallSequence<Place> {
  const given = use.path;
  let normal: string;
  try {
    normal = normalizePath(given, syscall, false);
  } catch {
    return { given, path: '', mounted: space.root, inner: given, isBad: true };
  }
  const { path, hollow } = yield* arrive(space, normal, { ...use, syscall, makesParents });
  if (hollow === undefined) return { given, path, ...space.inside(path) };
  if (use.access !== 'write') return { given, path, mounted: space.skeleton, inner: path };
  try {
    yield* makeWay(space, hollow, given, syscall);
  } catch (error) {
    throw isFsError(error) ? withPaths(error, given, undefined, syscall) : error;
  }
  return { given, path, ...space.inside(path) };
}

/** Creates a directory that leads to a mount point, level by level, so that no link is followed. */
function* makeWay(space: Namespace, path: string, given: string, syscall: string): CallSequence<void> {
  if (path === '/' || space.isPoint(path)) return;
  yield* makeWay(space, parentPath(path), given, syscall);
  const { mounted, inner } = space.inside(path);
  const stats = yield* look(mounted, inner);
  if (stats === undefined) yield* invoke(mounted.fileSystem, 'mkdir', [inner], {});
  else if (stats.kind !== 'directory') {
    const hint = `Beneath the way to a mount point there is a ${stats.kind} at ${path}: nothing can be made in it`;
    throw new FsError('ENOTDIR', { syscall, path: given, hint });
  }
}

interface Aim {
  readonly path: string;
  readonly follow: boolean;
  readonly syscall: string;
  readonly makesParents: boolean;
}

/**
 * Walks a path through the filesystems, link by link. Stops at a name that is missing or in the way, and leaves the
 * error to the filesystem there.
 * @throws FsError ELOOP, ENOENT if no single filesystem can report it
 */
function* arrive(space: Namespace, normal: string, aim: Aim): CallSequence<Arrival> {
  const { path: given, follow, syscall } = aim;
  const walk = new PathWalk(normal);
  /** The directory to which `hollow` applies. */
  let known = walk.at;
  let hollow: string | undefined;
  let hasFollowed = false;
  /**
   * Path at the first link. Undefined once a link or a mount point leads out of its filesystem, which otherwise detects
   * loops.
   */
  let first: { readonly path: string; readonly mounted: Mounted } | undefined;
  for (let child = walk.next(); child !== undefined; child = walk.next()) {
    if (walk.at !== known) {
      known = walk.at;
      hollow = yield* hollowAt(space, known);
    }
    if (space.isPoint(child) || space.isWay(child)) {
      first = undefined;
      walk.at = known = child;
      hollow = space.isPoint(child) ? undefined : yield* hollowAt(space, child);
      continue;
    }
    const { isLast, isInLink } = walk;
    if (isLast && (!follow || hollow !== undefined)) return { path: child, hollow };
    const { mounted, inner } = space.inside(child);
    const stats = hollow === undefined ? yield* look(mounted, inner) : undefined;
    if (stats?.kind === 'directory') walk.at = known = child;
    else if (stats?.kind === 'symlink') {
      if (!hasFollowed) first = { path: rest(child, walk), mounted };
      if (first?.mounted !== mounted) first = undefined;
      hasFollowed = true;
      if (!walk.hop()) {
        if (first !== undefined) return { path: first.path, hollow: undefined };
        throw new FsError('ELOOP', { syscall, path: given });
      }
      walk.follow(yield* invoke<string>(mounted.fileSystem, 'readlink', [inner]));
    } else if (stats !== undefined || !isInLink) return { path: rest(child, walk), hollow };
    else if (aim.makesParents) {
      // No directory is created at the target of a dangling link.
      if (first !== undefined) return { path: first.path, hollow: undefined };
      throw new FsError('ENOENT', { syscall, path: given });
    } else return { path: isLast ? child : joinPath(child, 'x'), hollow };
  }
  if (walk.at !== known) hollow = yield* hollowAt(space, walk.at);
  return { path: walk.at, hollow };
}

function rest(path: string, walk: PathWalk): string {
  return [path, ...[...walk.rest].reverse()].join('/');
}

/** Returns the directory if it only leads to mount points and its filesystem lacks it. */
function* hollowAt(space: Namespace, path: string): CallSequence<string | undefined> {
  if (path === '/' || space.isPoint(path) || !space.isWay(path)) return undefined;
  const { mounted, inner } = space.inside(path);
  // If the directory above is missing too, everything under it is, and a link there must not be followed.
  const above = yield* hollowAt(space, parentPath(path));
  if (above !== undefined) return path;
  return (yield* look(mounted, inner))?.kind === 'directory' ? undefined : path;
}

/** Returns the stats at a path; undefined if the path leads nowhere in its filesystem. */
function* look(mounted: Mounted, inner: string): CallSequence<Stats | undefined> {
  const found = yield* lookAt(mounted.fileSystem, inner);
  return typeof found === 'string' ? undefined : found;
}
