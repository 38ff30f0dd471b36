import { type FileSystem, isFsError, parentPath, type Stats } from '@scratchfs/core';
import { IN_STEPS } from '@scratchfs/core/internal';
import type { ToolCallOptions } from './tool.js';

/**
 * Runs work in a transaction, or without one if the filesystem has none, like a directory of the host or a mount of
 * several filesystems. Work that makes several changes needs `without`: outside of a transaction it is not atomic.
 *
 * @param without called instead of the work if the filesystem has no transactions
 */
export async function inTransaction<T>(
  fileSystem: FileSystem,
  work: (fileSystem: FileSystem) => Promise<T>,
  call: ToolCallOptions,
  without: (fileSystem: FileSystem) => Promise<T> = work,
): Promise<T> {
  let hasBegun = false;
  try {
    return await fileSystem.transaction((branch) => {
      hasBegun = true;
      return work(branch);
    }, call);
  } catch (error) {
    if (hasBegun || !isFsError(error, 'ENOTSUP')) throw error;
    return without(fileSystem);
  }
}

/**
 * Runs work that makes several changes: in a transaction, or, in a directory of the host, in one whose steps other
 * processes may see.
 *
 * @param without called instead of the work if the filesystem has neither
 */
export function inOnePiece<T>(
  fileSystem: FileSystem,
  work: (fileSystem: FileSystem) => Promise<T>,
  call: ToolCallOptions,
  without: () => Promise<T>,
): Promise<T> {
  const stepwise: ToolCallOptions & { readonly [IN_STEPS]: true } = { ...call, [IN_STEPS]: true };
  return inTransaction(fileSystem, work, call, () => inTransaction(fileSystem, work, stepwise, without));
}

/**
 * Creates the directories that lead to a path, then runs work that creates the path. If the work fails, removes those
 * of the new directories that are empty.
 */
export async function withParents(
  fileSystem: FileSystem,
  path: string,
  call: ToolCallOptions,
  work: () => Promise<void>,
): Promise<void> {
  const parent = parentPath(path);
  const first = await fileSystem.mkdir(parent, { recursive: true, ...call });
  try {
    await work();
  } catch (error) {
    for (let at = parent; first !== undefined && at.length >= first.length; at = parentPath(at)) {
      try {
        // The signal may have stopped the work, so it is not passed on.
        await fileSystem.rmdir(at);
      } catch {
        // Another client uses the directory, or it cannot be removed. The first error is the one that matters.
        break;
      }
    }
    throw error;
  }
}

/** Returns the entry at a path, without following a link; undefined for ENOENT. */
export async function entryAt(
  fileSystem: FileSystem,
  place: string,
  call: ToolCallOptions,
): Promise<Stats | undefined> {
  try {
    return await fileSystem.lstat(place, call);
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
