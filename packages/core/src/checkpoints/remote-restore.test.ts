import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import { openFileSystem } from '../create-file-system.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { TreeBackend } from '../engine/tree-backend/tree-backend.js';
import type { FileSystem } from '../file-system.js';
import { restore } from './restore.js';

/** Two clients of one storage. The first one has looked at every directory. */
async function clients(hasLinks: boolean): Promise<{ mine: FileSystem; other: FileSystem }> {
  const store = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
  const [mine, other] = [await openFileSystem(asyncStorage(store)), await openFileSystem(asyncStorage(store))];
  for (const [path, text] of [
    ['/b/name', 'old'],
    ['/c/d/file', 'precious'],
    ['/c/d/one', 'linked'],
  ] as const) {
    await mine.mkdir(path.slice(0, path.lastIndexOf('/')), { recursive: true });
    await mine.writeFile(path, text);
  }
  if (hasLinks) await mine.link('/c/d/one', '/c/d/two');
  for (const path of ['/', '/b', '/c', '/c/d']) await mine.readdir(path, { withFileTypes: true });
  return { mine, other };
}

describe('restore() on a remote storage', () => {
  it.each([
    [false, []],
    [false, ['/c/d']],
    [false, ['/', '/c', '/c/d']],
    [true, []],
    [true, ['/c/d']],
    [true, ['/', '/c', '/c/d']],
  ])(
    'leaves a file alone that another client has given the name; links before: %s, seen since: %j',
    async (hasLinks, looks) => {
      const { mine, other } = await clients(hasLinks);
      const before = await mine.checkpoint();
      await other.rm('/b/name');
      await other.link('/c/d/file', '/b/name');
      for (const path of looks) await mine.stat(path);
      const restored = await restore(mine, before, '/b/name');
      expect(restored).toEqual({ added: ['/b/name'], removed: ['/b/name'], changed: [] });
      expect([await other.readText('/b/name'), await other.readText('/c/d/file')]).toEqual(['old', 'precious']);
    },
  );

  it('keeps a file to which another client has added a name before the checkpoint', async () => {
    const { mine, other } = await clients(false);
    await other.link('/c/d/file', '/b/second');
    const before = await other.checkpoint();
    await other.writeFile('/b/name', 'new');
    const restored = await restore(mine, before.id, '/b');
    expect(restored).toEqual({ added: [], removed: [], changed: ['/b/name'] });
    expect((await other.stat('/b/second')).nlink).toBe(2);
  });
});
