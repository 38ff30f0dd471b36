import type { Stats } from '../../entry.js';
import { FsError, isFsError } from '../../errors.js';
import { joinPath, normalizePath, parentPath, pathSegments } from '../../paths.js';
import type { PathUse } from '../method-table.js';
import { renamed } from '../rename-error.js';
import { ask, type Rule } from '../steps.js';
import type { Inside, Mounted, Namespace } from './namespace.js';

/** Links followed in one path before ELOOP, as Linux has it. */
const MAX_HOPS = 40;

/** Where a path arrives: without links, but perhaps for its last name; what follows a missing name is kept. */
export interface Place extends Inside {
  readonly given: string;
  readonly path: string;
  /** The path is none: any filesystem says so, when it comes to it. */
  readonly isBad?: boolean;
}

interface Arrival {
  readonly path: string;
  /** The directory on the way to a mount point, missing in its filesystem, that the path is or lies in. */
  readonly hollow: string | undefined;
}

interface Name {
  readonly text: string;
  /** Came from the target of a link. */
  readonly linked: boolean;
}

/** Finds the filesystem that a path belongs to; a directory on the way that is missing there is made before a write. */
export function* placeOf(space: Namespace, use: PathUse, syscall: string, makesParents = false): Rule<Place> {
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
    throw isFsError(error) ? renamed(error, given, undefined, syscall) : error;
  }
  return { given, path, ...space.inside(path) };
}

/** Makes a directory that leads to a mount point real, level by level, so that no link is followed. */
function* makeWay(space: Namespace, path: string, given: string, syscall: string): Rule<void> {
  if (path === '/' || space.isPoint(path)) return;
  yield* makeWay(space, parentPath(path), given, syscall);
  const { mounted, inner } = space.inside(path);
  const stats = yield* look(mounted, inner);
  if (stats === undefined) yield* ask(mounted.fileSystem, 'mkdir', [inner], {});
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

/** Walks a path through the filesystems, hop by hop. Where it gets stuck, the filesystem there gives the error. */
function* arrive(space: Namespace, normal: string, aim: Aim): Rule<Arrival> {
  const { path: given, follow, syscall } = aim;
  const names: Name[] = pathSegments(normal)
    .map((text) => ({ text, linked: false }))
    .reverse();
  let at = '/';
  let hollow: string | undefined;
  let hops = 0;
  /** The first link, while all that it leads to lies in its filesystem, which then finds its loops itself. */
  let first: { readonly path: string; readonly mounted: Mounted } | undefined;
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name.text === '' || name.text === '.') continue;
    if (name.text === '..') {
      at = parentPath(at);
      hollow = yield* hollowAt(space, at);
      continue;
    }
    const child = joinPath(at, name.text);
    if (space.isPoint(child) || space.isWay(child)) {
      first = undefined;
      at = child;
      hollow = space.isPoint(child) ? undefined : yield* hollowAt(space, child);
      continue;
    }
    const isLast = names.length === 0;
    if (isLast && (!follow || hollow !== undefined)) return { path: child, hollow };
    const { mounted, inner } = space.inside(child);
    const stats = hollow === undefined ? yield* look(mounted, inner) : undefined;
    if (stats?.kind === 'directory') at = child;
    else if (stats?.kind === 'symlink') {
      if (hops === 0) first = { path: rest(child, names), mounted };
      if (first?.mounted !== mounted) first = undefined;
      if (++hops > MAX_HOPS) {
        if (first !== undefined) return { path: first.path, hollow: undefined };
        throw new FsError('ELOOP', { syscall, path: given });
      }
      const target = (yield* ask<string>(mounted.fileSystem, 'readlink', [inner])).replaceAll('\\', '/');
      if (target[0] === '/') at = '/';
      if (target[0] === '/') hollow = undefined;
      for (const text of target.split('/').reverse()) names.push({ text, linked: true });
    } else if (stats !== undefined || !(name.linked || names.some(({ linked }) => linked))) {
      return { path: rest(child, names), hollow };
    } else if (aim.makesParents) {
      // A link that points nowhere: nothing is made where it points.
      if (first !== undefined) return { path: first.path, hollow: undefined };
      throw new FsError('ENOENT', { syscall, path: given });
    } else return { path: isLast ? child : joinPath(child, 'x'), hollow };
  }
  return { path: at, hollow };
}

function rest(path: string, names: readonly Name[]): string {
  return [path, ...names.map(({ text }) => text).reverse()].join('/');
}

/** The directory itself where it is only a way to mount points, and its filesystem has none there. */
function* hollowAt(space: Namespace, path: string): Rule<string | undefined> {
  if (path === '/' || space.isPoint(path) || !space.isWay(path)) return undefined;
  const { mounted, inner } = space.inside(path);
  // A link above would lead elsewhere: what lies beneath a hollow directory is hollow.
  const above = yield* hollowAt(space, parentPath(path));
  if (above !== undefined) return path;
  return (yield* look(mounted, inner))?.kind === 'directory' ? undefined : path;
}

/** What lies at a path; undefined where that filesystem says that nothing does, or cannot get there. */
function* look(mounted: Mounted, inner: string): Rule<Stats | undefined> {
  try {
    return yield* ask<Stats>(mounted.fileSystem, 'lstat', [inner]);
  } catch (error) {
    if (isFsError(error) && LEADS_NOWHERE.has(error.code)) return undefined;
    throw error;
  }
}

const LEADS_NOWHERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EINVAL']);
