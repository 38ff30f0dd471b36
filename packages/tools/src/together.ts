import { type FileSystem, isFsError } from '@scratchfs/core';
import type { ToolCallOptions } from './tool.js';

/** Runs work all or nothing; one after the other where the filesystem has no transactions, as one of several mounts. */
export async function together<T>(
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
