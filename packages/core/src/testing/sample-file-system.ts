import { asyncForm } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { isFsError } from '../errors.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { FileSystem, SyncFileSystem } from '../file-system.js';

/** Returns a memory filesystem for tests, whose clock advances one millisecond per reading. */
export function sample(files: Readonly<Record<string, string>> = {}): SyncFileSystem {
  let now = 1000;
  const clock = (): number => now++;
  const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), clock);
  return openFileSystem(storage, { files, clock });
}

/** Returns an asynchronous memory filesystem for tests, whose clock stands still. */
export function asyncSample(files: Readonly<Record<string, string>>): Promise<FileSystem> {
  const clock = (): number => 1;
  const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), clock);
  return openFileSystem(asyncForm(storage, { clock }), { files, clock });
}

/** Returns the filesystem without `…Sync` methods. */
export function promises(fileSystem: FileSystem): FileSystem {
  return new Proxy(fileSystem, {
    get(target, key) {
      if (key === 'kind') return 'async';
      if (typeof key === 'string' && key.endsWith('Sync')) return undefined;
      const value = Reflect.get(target, key, target) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Returns the error code of a call, or its result. */
export async function codeOf(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    if (isFsError(error)) return error.code;
    throw error;
  }
}
