import { type FileSystem, isFsError, type Stats } from '@scratchfs/core';
import type { ToolCallOptions } from './tool.js';

/** Runs work in a transaction, or without one if the filesystem has none, as a mount of several filesystems. */
export async function inTransaction<T>(
  fileSystem: FileSystem,
  work: (fileSystem: FileSystem) => Promise<T>,
  call: ToolCallOptions,
): Promise<T> {
  let hasBegun = false;
  try {
    return await fileSystem.transaction((branch) => {
      hasBegun = true;
      return work(branch);
    }, call);
  } catch (error) {
    if (hasBegun || !isFsError(error, 'ENOTSUP')) throw error;
    return work(fileSystem);
  }
}

/** Returns the entry at a path, without following a link; undefined if it does not exist. */
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
