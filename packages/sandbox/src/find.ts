import { baseName, type EntryKind, FsError, isFsError, joinPath, parentPath, type Stats } from '@scratchfs/core';
import { isAbsolute } from './area.js';
import { call, type Steps } from './steps.js';

/** Where a path leads, through links. */
export interface Found {
  readonly path: string;
  /** What is there; undefined for nothing. */
  readonly kind: EntryKind | undefined;
}

const MAX_HOPS = 40;

/**
 * Follows links to where a path leads, also where nothing is there yet: a write would make it. The filesystem is asked
 * about every step, so that its guard sees each.
 * @throws FsError ELOOP after 40 links
 */
export function* find(path: string): Steps<Found> {
  try {
    const real = yield* call<string>('realpath', [path]);
    return { path: real, kind: (yield* call<Stats>('lstat', [real])).kind };
  } catch (error) {
    if (!isFsError(error, 'ENOENT') && !isFsError(error, 'ENOTDIR')) throw error;
    return yield* findMissing(path);
  }
}

/** The name itself, where it may be a link: only the links that lead to it are followed. */
export function* findName(path: string): Steps<Found> {
  if (path === '/') return { path, kind: 'directory' };
  const parent = yield* find(parentPath(path));
  const name = joinPath(parent.path, baseName(path));
  return { path: name, kind: yield* kindOf(name) };
}

function* findMissing(path: string): Steps<Found> {
  const names = namesOf(path);
  let at = '/';
  let kind: EntryKind | undefined = 'directory';
  let hops = 0;
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === '..') {
      at = parentPath(at);
      continue;
    }
    const next = joinPath(at, name);
    kind = kind === undefined ? undefined : yield* kindOf(next);
    if (kind === 'symlink') {
      if (++hops > MAX_HOPS) throw new FsError('ELOOP', { syscall: 'realpath', path });
      const target = yield* call<string>('readlink', [next]);
      if (isAbsolute(target)) at = '/';
      kind = 'directory';
      names.push(...namesOf(target));
    } else at = next;
  }
  return { path: at, kind };
}

/** Last one first. */
function namesOf(path: string): string[] {
  return path
    .split(/[/\\]/)
    .filter((name) => name !== '' && name !== '.')
    .reverse();
}

function* kindOf(path: string): Steps<EntryKind | undefined> {
  try {
    return (yield* call<Stats>('lstat', [path])).kind;
  } catch (error) {
    if (isFsError(error, 'ENOENT') || isFsError(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}
