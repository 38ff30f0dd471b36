import type { BigIntStats } from 'node:fs';
import { isFsError, MAX_DEPTH, MAX_PATH_BYTES, quote } from '@scratchfs/core';
import { checkEntryName, type TreeMode } from '@scratchfs/history';
import { DirectoryHandle } from '../directory-handle.js';
import { isTurnDue, nextTurn } from '../event-loop.js';
import { hostError, isCode } from '../host-error.js';
import type { RawName } from '../path-handle.js';
import type { WorktreeCache } from './worktree-cache.js';
import type { WorktreeFile } from './worktree-file.js';

/** A path that is left out or changed because it cannot be represented as it is, and the reason. */
export interface Unrepresentable {
  readonly path: string;
  readonly reason: string;
}

export interface ReadWorktreeOptions {
  /**
   * Directory to which the reading is limited; all paths are then relative to it. No link on the way is followed.
   * Default: the whole directory.
   */
  readonly within?: string | undefined;
  /** Throws for a name that is refused. Default: git's rules, and the directory's own `.git` is skipped. */
  readonly checkName?: ((name: string) => void) | undefined;
  readonly cache?: WorktreeCache | undefined;
  /** Reports whether a path is left out, with its contents. */
  readonly without?: ((path: string) => boolean) | undefined;
  /** Paths at which a directory stands for another repository. Its contents are listed too. */
  readonly submodules?: ReadonlySet<string> | undefined;
  /**
   * Called for each path that cannot be represented, with the name itself, which `path` cannot express if it is not
   * UTF-8.
   */
  readonly onUnrepresentable: (found: Unrepresentable, name: RawName) => void;
  /** Called for each directory under the first one, before its contents. */
  readonly onDirectory?: ((path: string) => void) | undefined;
  /**
   * Open directories whose modes keep their owner out, and report a file that cannot be read instead of failing.
   * Default false.
   */
  readonly asOwner?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields the files, links and submodules in a directory of the host, in no particular order. A file that changes while
 * it is read may be read in a state between; one that disappears is left out. Links in it are read, not followed.
 */
export async function* readWorktree(folder: string, options: ReadWorktreeOptions): AsyncGenerator<WorktreeFile> {
  const pending: { directory: DirectoryHandle; path: string; names: RawName[] }[] = [];
  const enter = (directory: DirectoryHandle, path: string): void =>
    void pending.push({ directory, path, names: directory.names() });
  try {
    const start = beneath(DirectoryHandle.at(folder), options.within ?? '');
    if (start === undefined) return;
    enter(start, '');
    for (let frame = pending.at(-1); frame !== undefined; frame = pending.at(-1)) {
      const name = frame.names.pop();
      if (name === undefined) {
        pending.pop()?.directory[Symbol.dispose]();
        continue;
      }
      if (isTurnDue()) {
        await nextTurn();
        options.signal?.throwIfAborted();
      }
      if (options.checkName === undefined && pending.length === 1 && name === '.git') continue;
      const path = frame.path + String(name);
      if (typeof name !== 'string') {
        options.onUnrepresentable({ path, reason: 'its name is not UTF-8' }, name);
        continue;
      }
      const stat = frame.directory.stat(name);
      if (stat === undefined) continue;
      if (options.without?.(path) === true) continue;
      const reason = reasonAgainst(name, path, stat, pending.length, options.checkName ?? checkEntryName);
      if (reason !== undefined) {
        options.onUnrepresentable({ path, reason }, name);
      } else if (!stat.isDirectory()) {
        try {
          const file = readFile(frame.directory, name, path, stat, options.cache);
          if (file !== undefined) yield file;
        } catch (error) {
          if (options.asOwner !== true || !isFsError(error, 'EACCES')) throw error;
          options.onUnrepresentable({ path, reason: 'it cannot be read' }, name);
        }
      } else {
        if (options.submodules?.has(path) === true)
          yield { path, mode: '160000', known: undefined, body: undefined, stat };
        try {
          enter(options.asOwner ? frame.directory.enterAsOwner(name) : frame.directory.enter(name), `${path}/`);
        } catch (error) {
          // The path is not a directory any more.
          if (isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) continue;
          throw hostError(error, 'scandir', `/${path}`);
        }
        options.onDirectory?.(path);
      }
    }
  } finally {
    for (const { directory } of pending) directory[Symbol.dispose]();
  }
}

/**
 * Opens a directory under `top` and closes `top`, or returns `top` for an empty path. Undefined if something on the way
 * is missing or is not a directory.
 */
function beneath(top: DirectoryHandle, path: string): DirectoryHandle | undefined {
  let at = top;
  for (const name of path.split('/')) {
    if (name === '') continue;
    try {
      using above = at;
      at = above.enter(name);
    } catch (error) {
      if (isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
      throw hostError(error, 'open', `/${path}`);
    }
  }
  return at;
}

function reasonAgainst(
  name: string,
  path: string,
  stat: BigIntStats,
  depth: number,
  check: (name: string) => void,
): string | undefined {
  try {
    check(name);
  } catch (error) {
    return (error as Error).message;
  }
  if (depth > MAX_DEPTH) return `it lies more than ${MAX_DEPTH} directories deep`;
  if (Buffer.byteLength(path) >= MAX_PATH_BYTES) return `its path has more than ${MAX_PATH_BYTES} bytes`;
  if (!stat.isFile() && !stat.isDirectory() && !stat.isSymbolicLink()) return 'it is a pipe, a socket or a device';
  return undefined;
}

function readFile(
  directory: DirectoryHandle,
  name: string,
  path: string,
  stat: BigIntStats,
  cache: WorktreeCache | undefined,
): WorktreeFile | undefined {
  try {
    if (stat.isSymbolicLink()) {
      const target = directory.readLink(name);
      return target === undefined ? undefined : { path, mode: '120000', known: undefined, body: target, stat };
    }
    const known = cache?.get(path, stat);
    if (known !== undefined) return { path, mode: modeOf(stat), known, body: undefined, stat };
    const read = directory.read(name);
    return read && { path, mode: modeOf(read.stat), known: undefined, body: read.bytes, stat: read.stat };
  } catch (error) {
    throw hostError(error, 'open', `/${path}`);
  }
}

function modeOf({ mode }: BigIntStats): TreeMode {
  return (mode & 0o100n) === 0n ? '100644' : '100755';
}

/**
 * Formats paths that a version cannot represent as lines of an error message: the first 20, and the number of the
 * others.
 */
export function listed(found: readonly Unrepresentable[]): string {
  const shown = found.slice(0, 20).map(({ path, reason }) => `${quote(path)}: ${reason}`);
  if (found.length > shown.length) shown.push(`and ${found.length - shown.length} more`);
  return shown.join('\n');
}
