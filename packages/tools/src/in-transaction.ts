import { type FileSystem, isFsError } from '@scratchfs/core';
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
