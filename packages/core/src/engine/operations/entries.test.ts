import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import { ExecutorSyncStorage } from '../../executor-storage.js';
import { rootMeta } from '../defaults.js';
import { MemoryExecutor } from '../memory/memory-executor.js';
import { TreeBackend } from '../tree-backend/tree-backend.js';

describe('setMany', () => {
  it.each([['toString'], ['__proto__'], ['constructor'], ['\u001b[31m']])('refuses the kind %j', (kind) => {
    const storage = new ExecutorSyncStorage(MemoryExecutor.create(rootMeta(0)), () => 0);
    expect(() => storage.set({ path: '/x', kind: kind as never })).toThrow(
      /^kind must be one of file, directory, symlink, not '[ -~]+'$/,
    );
    expect(storage.paths()).toEqual([]);
  });

  it('keeps what another client has changed in the directory of a new entry', async () => {
    const backend = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
    const [mine, other] = [asyncStorage(backend), asyncStorage(backend)];
    await mine.set({ path: '/d', kind: 'directory', mode: 0o755, modifiedAt: 1 });
    expect(await mine.children('/d')).toEqual([]);
    await other.set({ path: '/d', kind: 'directory', mode: 0o700, modifiedAt: 2 });
    await mine.set({ path: '/d/f' });
    expect(await other.get('/d')).toMatchObject({ mode: 0o700, modifiedAt: 2 });
  });
});

describe('clear()', () => {
  it('keeps the metadata of the root, also as the first call of a client', async () => {
    const backend = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
    const [mine, other] = [asyncStorage(backend), asyncStorage(backend)];
    await other.set({ path: '/', kind: 'directory', mode: 0o700, modifiedAt: 5 });
    await mine.clear();
    expect(await other.get('/')).toMatchObject({ mode: 0o700, modifiedAt: 5 });
    await other.set({ path: '/', kind: 'directory', mode: 0o750, modifiedAt: 6 });
    await mine.clear();
    expect(await other.get('/')).toMatchObject({ mode: 0o750, modifiedAt: 6 });
  });
});
