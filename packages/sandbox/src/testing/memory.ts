import { type FileSystem, type InitialFiles, isFsError, openFileSystem, type SyncFileSystem } from '@scratchfs/core';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';

/** A clock that stands still between readings by one millisecond. */
export function testClock(): () => number {
  let now = 1_000;
  return () => now++;
}

export function memory(files: InitialFiles = {}): SyncFileSystem {
  const clock = testClock();
  return openFileSystem(new MemoryStorage({ clock }), { files, clock });
}

/** The same through the engine for storages far away. */
export function farMemory(files: InitialFiles = {}): Promise<FileSystem> {
  const clock = testClock();
  return openFileSystem(asyncMemoryStorage({ clock }), { files, clock });
}

/** The code of the error that work ends with, its name where it has none, or undefined where all went well. */
export async function refusal(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return isFsError(error) ? (error.name === 'FsError' ? error.code : error.name) : (error as Error).constructor.name;
  }
}

/** The message of the error that work ends with. */
export async function message(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It was not refused');
}
