import type { BigIntStats } from 'node:fs';
import { isFsError, MAX_DEPTH, MAX_PATH_BYTES, quote } from '@scratchfs/core';
import { checkEntryName, type ObjectId, type TreeMode } from '@scratchfs/history';
import { isTurnDue, nextTurn } from '../event-loop.js';
import { HeldDirectory, type HeldName } from '../held-directory.js';
import { hostError, isCode } from '../host-error.js';
import type { WorktreeCache } from './worktree-cache.js';

/** One file, link or other repository of a work tree. */
export interface WorktreeFile {
  readonly path: string;
  readonly mode: TreeMode;
  /** Its blob, where it is known from the last time. */
  readonly known: ObjectId | undefined;
  /** Its content, where it is not known; undefined for another repository. */
  readonly body: Uint8Array | undefined;
  readonly stat: BigIntStats;
}

/** What lies in a work tree and cannot be in a version. */
export interface Unrepresentable {
  readonly path: string;
  readonly reason: string;
}

export interface ReadWorktreeOptions {
  /** Only what lies at this path in it, which is reached through directories alone. Default: all. */
  readonly within?: string | undefined;
  /** Refuses names. Default: git's rules, and the directory's own `.git` is passed by. */
  readonly checkName?: ((name: string) => void) | undefined;
  readonly cache?: WorktreeCache | undefined;
  /** Paths that are left out, with all beneath. */
  readonly without?: ((path: string) => boolean) | undefined;
  /** Paths at which a directory stands for another repository; what lies in it comes beside. */
  readonly submodules?: ReadonlySet<string> | undefined;
  /** With the name itself, which the path cannot tell where it is no UTF-8. */
  readonly onUnrepresentable: (found: Unrepresentable, name: HeldName) => void;
  /** Told of each directory beneath the first one, before what lies in it comes. */
  readonly onDirectory?: ((path: string) => void) | undefined;
  /** Reads also what its owner has been kept from; a file that cannot be read all the same is told. Default false. */
  readonly asOwner?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Everything in a directory of the host but directories and its own `.git`, in no special order. What changes meanwhile is
 * read as it was before or after; what vanishes is left out. Links are read, never followed.
 */
export async function* readWorktree(folder: string, options: ReadWorktreeOptions): AsyncGenerator<WorktreeFile> {
  const pending: { directory: HeldDirectory; path: string; names: HeldName[] }[] = [];
  const enter = (directory: HeldDirectory, path: string): void =>
    void pending.push({ directory, path, names: directory.names() });
  try {
    const start = beneath(HeldDirectory.at(folder), options.within ?? '');
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
        options.onUnrepresentable({ path, reason: 'its name is no UTF-8' }, name);
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
          options.onUnrepresentable({ path, reason: 'nobody may read it' }, name);
        }
      } else {
        if (options.submodules?.has(path) === true)
          yield { path, mode: '160000', known: undefined, body: undefined, stat };
        try {
          enter(options.asOwner ? frame.directory.enterAsOwner(name) : frame.directory.enter(name), `${path}/`);
          options.onDirectory?.(path);
        } catch (error) {
          // It is something else by now.
          if (isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) continue;
          throw hostError(error, 'scandir', `/${path}`);
        }
      }
    }
  } finally {
    for (const { directory } of pending) directory[Symbol.dispose]();
  }
}

/** A directory beneath a held one, which is let go; undefined where a link or nothing is on the way. */
function beneath(top: HeldDirectory, path: string): HeldDirectory | undefined {
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
  directory: HeldDirectory,
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

/** All that a version cannot hold, in one error's message. */
export function listed(found: readonly Unrepresentable[]): string {
  const shown = found.slice(0, 20).map(({ path, reason }) => `${quote(path)}: ${reason}`);
  if (found.length > shown.length) shown.push(`and ${found.length - shown.length} more`);
  return shown.join('\n');
}
