import { describe, expect, it } from 'vitest';
import { asyncForm } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import { diff, formatDiff } from '../diff.js';
import { ExecutorSyncStorage } from '../executor-storage.js';
import type { CallOptions, FileSystem } from '../file-system.js';
import { glob, grep } from '../search.js';
import { createSnapshot, restoreSnapshot } from '../snapshot.js';
import { rootMeta } from './defaults.js';
import { MemoryExecutor } from './memory/memory-executor.js';

async function all(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

const storage = () => new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
const FORMS: Readonly<Record<string, () => Promise<FileSystem>>> = {
  'in memory': async () => openFileSystem(storage(), { files: { '/f': 'text' } }),
  'with promises only': () => openFileSystem(asyncForm(storage()), { files: { '/f': 'text' } }),
};

/** Functions with a signal that are not methods of a filesystem. */
const CALLS: Readonly<Record<string, (fs: FileSystem, options: object) => Promise<unknown>>> = {
  glob: async (fs, options) => all(glob(fs, '**', options)),
  grep: async (fs, options) => all(grep(fs, 'text', options)),
  diff: (fs, options) => diff(fs, 'before', undefined, options),
  formatDiff: (fs, options) => formatDiff(fs, 'before', undefined, options),
  createSnapshot: (fs, options) => createSnapshot(fs, options),
  restoreSnapshot: async (fs, options) => restoreSnapshot(fs, await createSnapshot(fs), options),
  'exists of a storage': async (_, options) => asyncForm(storage()).exists('/f', options),
  'entries of a storage': async (_, options) => all(asyncForm(storage()).entries(options)),
};

describe.each(Object.keys(FORMS))('%s', (form) => {
  it.each(Object.keys(CALLS))('%s uses its own options and ignores inherited ones', async (name) => {
    const fs = await (FORMS[form] as () => Promise<FileSystem>)();
    await fs.checkpoint('before');
    const call = CALLS[name] as (fs: FileSystem, options: object) => Promise<unknown>;
    const aborted: CallOptions = { signal: AbortSignal.abort(new Error('enough')) };
    await expect(call(fs, aborted)).rejects.toThrow('enough');
    await expect(call(fs, { signal: 5 })).rejects.toThrow(TypeError);
    await call(fs, Object.create(aborted) as object);
    await call(fs, Object.create({ signal: 5, adopt: 5, nameOf: 5, maxLength: 'x', maxHoles: 'x', dot: 5 }) as object);
  });
});
