import { beforeEach, describe, expect, it } from 'vitest';
import { asyncStorage } from '../../async-storage.js';
import { openFileSystem } from '../../create-file-system.js';
import type { FileSystem } from '../../file-system.js';
import { changedBackend, sampleBackend } from '../../testing/sample-backend.js';

/** Two clients of one storage, of which the first has cached the tree before the second changes modes. */
describe('cp by a client with cached directories', () => {
  let fs: FileSystem;
  let other: FileSystem;
  let loads: number;

  beforeEach(async () => {
    loads = 0;
    const backend = sampleBackend();
    fs = await openFileSystem(
      asyncStorage(
        changedBackend(backend, {
          load: (...args) => {
            loads += 1;
            return backend.load(...args);
          },
        }),
      ),
    );
    other = await openFileSystem(asyncStorage(backend));
    for (const at of ['/a/x/y', '/a/z', '/b']) await other.mkdir(at, { recursive: true });
    await other.writeFile('/a/x/f', 'text');
    for (const at of ['/', '/a', '/a/x', '/a/x/y', '/a/z', '/b']) await fs.readdir(at);
    for (const at of ['/a', '/a/x', '/a/x/y', '/a/z']) await other.chmod(at, 0o700);
    loads = 0;
  });

  const modes = async (...paths: readonly string[]): Promise<number[]> =>
    Promise.all(paths.map(async (path) => (await other.stat(path)).mode & 0o777));

  it('gives the copy the mode of the source at the call', async () => {
    await fs.cp('/a', '/c', { recursive: true });
    expect(await modes('/c', '/c/x', '/c/x/y', '/c/z')).toEqual([0o700, 0o700, 0o700, 0o700]);
    expect(loads).toBe(1);
  });

  it('gives each directory that a merge adds the mode of its source, with one load for all', async () => {
    await fs.cp('/a', '/b', { recursive: true });
    expect(await modes('/b/x', '/b/x/y', '/b/z')).toEqual([0o700, 0o700, 0o700]);
    expect(loads).toBe(1);
  });

  it('gives each directory that a filter accepts the mode of its source', async () => {
    const filter = (source: string): boolean => {
      if (source === '/a/z') loads = 0;
      return true;
    };
    await fs.cp('/a', '/c', { recursive: true, filter });
    expect(loads).toBe(1);
    expect(await modes('/c', '/c/x', '/c/x/y', '/c/z')).toEqual([0o700, 0o700, 0o700, 0o700]);
    expect(await other.readFile('/c/x/f', 'utf8')).toBe('text');
  });

  it('gives the copy in a transaction the mode of the source at its start, or the one set in it', async () => {
    await fs.transaction(async (tx) => {
      await tx.cp('/a', '/c', { recursive: true });
      await tx.writeFile('/a/x/new', '');
      await tx.cp('/a/x', '/d', { recursive: true });
      await tx.chmod('/a/z', 0o711);
      await tx.cp('/a/z', '/e', { recursive: true });
      await tx.cp('/e', '/g', { recursive: true });
      await tx.mkdir('/h');
      await tx.cp('/h', '/i', { recursive: true });
    });
    expect(await modes('/a/x', '/a/z', '/c', '/d', '/d/y', '/e', '/g', '/i')).toEqual([
      0o700, 0o711, 0o700, 0o700, 0o700, 0o711, 0o711, 0o755,
    ]);
  });
});
