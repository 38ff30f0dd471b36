import { type FileSystem, type InitialFiles, isFsError, openFileSystem, type SyncFileSystem } from '@scratchfs/core';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';

/** Returns a clock that advances by one millisecond per reading. */
export function testClock(): () => number {
  let now = 1_000;
  return () => now++;
}

export function memory(files: InitialFiles = {}): SyncFileSystem {
  const clock = testClock();
  return openFileSystem(new MemoryStorage({ clock }), { files, clock });
}

/** Like `memory`, but asynchronous, through the remote engine. */
export function asyncMemory(files: InitialFiles = {}): Promise<FileSystem> {
  const clock = testClock();
  return openFileSystem(asyncMemoryStorage({ clock }), { files, clock });
}

/**
 * Returns the code of the FsError that work ends with; for an error of any other class, the name of the class.
 * Undefined on success.
 */
export async function refusal(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return isFsError(error) ? (error.name === 'FsError' ? error.code : error.name) : (error as Error).constructor.name;
  }
}

/** Returns the message of the error that work ends with. */
export async function message(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It was not refused');
}
