import { describe, expect, it } from 'vitest';
import { ExecutorSyncStorage } from '../../executor-storage.js';
import { rootMeta } from '../defaults.js';
import { MemoryExecutor } from '../memory/memory-executor.js';

describe('setMany', () => {
  it.each([['toString'], ['__proto__'], ['constructor'], ['\u001b[31m']])('refuses the kind %j', (kind) => {
    const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
    expect(() => storage.set({ path: '/x', kind: kind as never })).toThrow(
      /^kind must be one of file, directory, symlink, not '[ -~]+'$/,
    );
    expect(storage.paths()).toEqual([]);
  });
});
