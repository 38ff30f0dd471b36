import type { FileSystem } from '@scratchfs/core';
import { usageError } from '../errors.js';
import type { Call } from '../table/command-spec.js';
import { type Access, openStore } from './open-store.js';
import { storedPath } from './stored-path.js';

/** The files that a command of `fs`, `import` or `export` works on: a storage, or the attempt of a workspace. */
export interface Target {
  readonly fileSystem: FileSystem;
  /** Returns the absolute path that an argument names. */
  path(argument: string): string;
  /** Runs work that changes files. On an attempt it is one operation; elsewhere one transaction, if there are any. */
  change<T>(summary: string, work: (fileSystem: FileSystem) => Promise<T>): Promise<T>;
}

/** Opens the target of a call, uses it and closes it. */
export async function withTarget<T>(call: Call, access: Access, use: (target: Target) => Promise<T>): Promise<T> {
  const name = call.options.text('store');
  if (name === undefined) throw usageError('--store URL is missing.', '`scratchfs help stores` lists the forms.');
  const at = call.options.text('at');
  const store = await openStore(name, call.directory, access);
  try {
    const fileSystem = at === undefined ? store.fileSystem : await store.fileSystem.at(at, { signal: call.signal });
    return await use({
      fileSystem,
      path: (argument) => storedPath(argument),
      async change(_, work) {
        const value = fileSystem.capabilities.transactions
          ? await fileSystem.transaction(work, { signal: call.signal })
          : await work(fileSystem);
        await store.save();
        return value;
      },
    });
  } finally {
    await store.close();
  }
}
