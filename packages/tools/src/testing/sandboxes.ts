import { type FileSystem, type InitialFiles, openFileSystem, type SyncFileSystem } from '@scratchfs/core';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
import { type PathConfig, Sandbox } from '@scratchfs/sandbox';

export function memory(files: InitialFiles = {}): SyncFileSystem {
  let now = 1_000;
  return openFileSystem(new MemoryStorage(), { files, clock: () => now++ });
}

/** Like `memory`, but asynchronous, through the remote engine. */
export function asyncMemory(files: InitialFiles = {}): Promise<FileSystem> {
  let now = 1_000;
  return openFileSystem(asyncMemoryStorage(), { files, clock: () => now++ });
}

/** Filesystems that run the same tests: names and functions that create one. */
export const STORAGES: readonly (readonly [string, (files?: InitialFiles) => FileSystem | Promise<FileSystem>])[] = [
  ['memory', memory],
  ['async memory', asyncMemory],
];

/** Creates a sandbox of a whole filesystem. */
export function whole(fileSystem: FileSystem): Sandbox {
  return new Sandbox(fileSystem);
}

/** Creates a sandbox of named directories. */
export function named(fileSystem: FileSystem, paths: Record<string, PathConfig>): Sandbox {
  return new Sandbox(fileSystem, { paths });
}

export const yes = (): boolean => true;
