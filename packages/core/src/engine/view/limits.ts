import { FsError } from '../../errors.js';
import { MAX_DEPTH, MAX_PATH_BYTES, pathSegments, utf8Length } from '../../paths.js';
import { DIRECTORY } from '../../tree/node.js';
import type { Location } from '../../tree/tree.js';
import type { Change } from '../changes.js';
import type { OpenFiles } from '../open-files.js';
import { withListings } from '../remote/prefetch.js';
import type { View } from '../view.js';
import { limitError, MAX_FILE_SIZE } from './limit-error.js';

/** Number of bytes that may be added without checking that the sum of all sizes stays a safe integer. */
const MAX_UNCHECKED_BYTES = 2 ** 40;
/**
 * Share of the maximum depth and path length. A directory whose depth is unknown may move to a path within this share
 * without being measured.
 */
const UNMEASURED_SHARE = 1 / 8;

/** The open files as they will be after the changes of an operation so far. */
interface Ahead {
  /** Undefined while no change affects open files. */
  openFiles: OpenFiles | undefined;
  /** The number of changes applied here, and the last of them. */
  count: number;
  last: Change | undefined;
}

/** By the list of changes. The map is weak because a value holds removed nodes: it must not outlive its list. */
const AHEAD = new WeakMap<readonly Change[], Ahead>();

/**
 * Returns the bytes of files with a name and of open files without one, including those whose name this operation
 * removed.
 */
export function usedBytes(view: View): number {
  return (
    view.tree.root.size +
    view.tree.linkedSize +
    (view.openFiles === undefined ? 0 : detachedBytes(view, view.openFiles))
  );
}

function detachedBytes(view: View, outer: OpenFiles): number {
  const openFiles = openFilesAhead(view, outer);
  return openFiles.detached.size + (view.inner === undefined ? 0 : openFiles.detachedBeyond(view.inner));
}

/** Returns the open files after the changes so far. */
function openFilesAhead(view: View, openFiles: OpenFiles): OpenFiles {
  const { changes } = view;
  if (changes === undefined || changes.length === 0 || !openFiles.hasAny) return openFiles;
  let ahead = AHEAD.get(changes);
  if (ahead === undefined || changes[ahead.count - 1] !== ahead.last)
    AHEAD.set(changes, (ahead = { openFiles: undefined, count: 0, last: undefined }));
  const more = changes.slice(ahead.count);
  if (more.some(isAboutOpenFiles)) {
    ahead.openFiles ??= openFiles.copy();
    ahead.openFiles.follow(more, view.tree);
  }
  ahead.count = changes.length;
  ahead.last = changes.at(-1);
  return ahead.openFiles ?? openFiles;
}

/** @throws FsError ENOSPC if there is no room for `bytes` more bytes and `nodes` more names */
export function reserve(view: View, bytes: number, nodes: number, syscall: string, path: string): void {
  const { maxTotalSize, maxNodeCount } = view.context.quota.limits;
  if (bytes > 0 && (maxTotalSize !== undefined || bytes > MAX_UNCHECKED_BYTES)) {
    const allowed = maxTotalSize ?? Number.MAX_SAFE_INTEGER;
    const used = usedBefore(view, bytes, allowed, () => usedBytes(view));
    if (used + bytes > allowed) throw limitError('ENOSPC', 'maxTotalSize', used, used + bytes, allowed, syscall, path);
  }
  if (nodes > 0 && maxNodeCount !== undefined) {
    const used = usedBefore(view, nodes, maxNodeCount, () => view.tree.root.files + view.tree.root.directories);
    if (used + nodes > maxNodeCount) {
      throw limitError('ENOSPC', 'maxNodeCount', used, used + nodes, maxNodeCount, syscall, path);
    }
  }
}

/** Returns the usage. If it would make the operation fail, it is made exact first, and recorded as relied on. */
function usedBefore(view: View, more: number, allowed: number, count: () => number): number {
  if (count() + more > allowed) view.relyOnTotals();
  return count();
}

/** Checks a file's new size against `maxFileSize`. A file over the limit may still shrink. @throws FsError EFBIG */
export function checkFileSize(view: View, size: number, before: number, syscall: string, path: string): void {
  const allowed = view.context.quota.limits.maxFileSize ?? MAX_FILE_SIZE;
  if (size > allowed && size > before) throw limitError('EFBIG', 'maxFileSize', before, size, allowed, syscall, path);
}

/**
 * @throws FsError ENAMETOOLONG if something in the directory would exceed the maximum depth or path length at `target`.
 * A directory that has not been measured passes if {@link isHarmless} returns true.
 */
export function checkReach(view: View, top: Location, target: string, syscall: string, path: string): void {
  const { height, reach } = top.directory;
  const depth = pathSegments(target).length;
  if (depth + height <= MAX_DEPTH && (target.length + reach) * 3 <= MAX_PATH_BYTES) return;
  if (height === Number.POSITIVE_INFINITY && isHarmless(top.path, target)) return;
  const { levels, bytes } = measureDepth(view, top);
  const length = utf8Length(target) + bytes;
  const isTooDeep = depth + levels > MAX_DEPTH;
  if (isTooDeep || length > MAX_PATH_BYTES) view.relyOnDepth(top.directory);
  if (isTooDeep) {
    throw new FsError('ENAMETOOLONG', {
      syscall,
      path,
      limit: 'depth',
      requested: depth + levels,
      allowed: MAX_DEPTH,
    });
  }
  if (length > MAX_PATH_BYTES) {
    throw new FsError('ENAMETOOLONG', { syscall, path, limit: 'path', requested: length, allowed: MAX_PATH_BYTES });
  }
}

/** Returns the depth of a directory in levels and in bytes of path; loads unknown parts level by level. */
function measureDepth(view: View, top: Location): { readonly levels: number; readonly bytes: number } {
  let levels = 0;
  let bytes = 0;
  let level = [{ location: top, length: 0 }];
  for (let depth = 1; level.length > 0; depth++) {
    try {
      view.all(level, ({ location }) => view.list(location));
    } catch (error) {
      throw withListings(error);
    }
    const next: typeof level = [];
    for (const { location, length } of level) {
      location.directory.entries.forEach((entry, name) => {
        const below = length + 1 + utf8Length(name);
        levels = depth;
        bytes = Math.max(bytes, below);
        if (entry.kind === DIRECTORY)
          next.push({ location: view.tree.childLocation(location, name, entry), length: below });
      });
    }
    level = next;
  }
  return { levels, bytes };
}

function isAboutOpenFiles({ type }: Change): boolean {
  return type === 'remove' || type === 'rename' || type === 'reset';
}

/**
 * Returns true if the target of a move is no deeper and no longer than its source, or so short that only a very deep
 * tree would be too deep there.
 */
function isHarmless(source: string, target: string): boolean {
  const isLessThan = (depth: number, bytes: number): boolean =>
    pathSegments(target).length <= depth && utf8Length(target) <= bytes;
  return (
    isLessThan(MAX_DEPTH * UNMEASURED_SHARE, MAX_PATH_BYTES * UNMEASURED_SHARE) ||
    isLessThan(pathSegments(source).length, utf8Length(source))
  );
}
