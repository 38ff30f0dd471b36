import { FsError } from '../../errors.js';
import { baseName, normalizePath, parentPath, pathSegments } from '../../paths.js';
import { DIRECTORY } from '../../tree/node.js';
import type { Location } from '../../tree/tree.js';
import type { View } from '../view.js';
import { type Pair, type RestoredPaths, type RestoreGuard, restoreName } from './restore-allowed.js';

const SYSCALL = 'restore';

/** Allows everything, for a filesystem without guards. */
const NO_GUARD: RestoreGuard = {
  check: () => {},
  allows: () => true,
  isVisible: () => true,
  checkTree: () => {},
};

/** Makes one path what it is in `kept`, a view of another state without guards. */
export function restorePath(view: View, kept: View, given: string): RestoredPaths {
  const path = normalizePath(given, SYSCALL, false);
  if (path === '/') {
    const hint = 'The root is restored by rollback, or each name in it by itself';
    throw new FsError('EBUSY', { syscall: SYSCALL, path: given, hint });
  }
  const name = baseName(path);
  const way = wayTo(view, kept, directoryOf(view, kept, parentPath(path), given), given);
  const { now, wanted } = way.at(-1) as Pair;
  const existed = wanted !== undefined && kept.lookup(wanted, name) !== undefined;
  const guard = view.context.guard ?? NO_GUARD;
  // A guard that refuses the path says so, whether anything exists there or not.
  guard.check(joined(way, name), 'look', SYSCALL, given);
  if (!existed && (now === undefined || view.lookup(now, name) === undefined)) {
    const hint = 'Nothing exists at this path, now or at the checkpoint';
    throw new FsError('ENOENT', { syscall: SYSCALL, path: given, hint });
  }
  return restoreName(view, guard, kept, SYSCALL, way, name);
}

function joined(way: readonly Pair[], name: string): string {
  const { path } = way.at(-1) as Pair;
  return path === '/' ? `/${name}` : `${path}/${name}`;
}

/**
 * Returns the path, free of links, to which the path of a directory leads: now, or if nothing exists there now, at the
 * checkpoint.
 */
function directoryOf(view: View, kept: View, path: string, given: string): string {
  for (const one of [view, kept]) {
    const node = one.peek(path, true, 'look', SYSCALL, given);
    if (node?.kind === DIRECTORY) return one.at.location(node).path;
    if (node === undefined) continue;
    throw new FsError('ENOTDIR', { syscall: SYSCALL, path: given });
  }
  throw new FsError('ENOENT', { syscall: SYSCALL, path: given });
}

/** Returns the directories on a path without links, from the root, in both states. */
function wayTo(view: View, kept: View, path: string, given: string): Pair[] {
  let pair: Pair = { path: '/', now: view.tree.rootLocation, wanted: kept.tree.rootLocation };
  const way = [pair];
  let at = '';
  for (const name of pathSegments(path)) {
    at += `/${name}`;
    const now = enter(view, pair.now, name);
    if (now === 'other') {
      const hint = 'Something else has taken the place of a directory on this path: restore that directory';
      throw new FsError('ENOTDIR', { syscall: SYSCALL, path: given, hint });
    }
    const wanted = enter(kept, pair.wanted, name);
    pair = { path: at, now, wanted: wanted === 'other' ? undefined : wanted };
    way.push(pair);
  }
  return way;
}

/** Returns the directory under a name of another one; undefined if nothing exists there, `other` for another kind. */
function enter(view: View, location: Location | undefined, name: string): Location | 'other' | undefined {
  const node = location && view.tree.resolve(view.lookup(location, name));
  if (location === undefined || node === undefined) return undefined;
  return node.kind === DIRECTORY ? view.tree.childLocation(location, name, node) : 'other';
}
