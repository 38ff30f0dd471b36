import { asyncStorage, type Backend, type FileSystem, openFileSystem } from '@scratchfs/core';
import { equal } from './assert.js';

type AddCase = (title: string, run: (backend: Backend) => Promise<void>) => void;

/** Cases for a client that has cached directories which another client changes. */
export function cachedDirectoryCases(addBackend: AddCase): void {
  const add = (title: string, run: (fs: FileSystem, modes: ModesOf) => Promise<void>): void =>
    addBackend(title, async (backend) => {
      // Each client has a cache of its own.
      const [fs, other] = [await openFileSystem(asyncStorage(backend)), await openFileSystem(asyncStorage(backend))];
      await other.mkdir('/a/x/y', { recursive: true });
      await other.mkdir('/b');
      for (const path of ['/', '/a', '/a/x', '/b']) await fs.readdir(path);
      await other.chmod('/a', 0o700);
      await other.chmod('/a/x', 0o710);
      await run(fs, (...paths) => Promise.all(paths.map(async (path) => (await other.stat(path)).mode & 0o777)));
    });

  add('a copy of a directory has the mode that the source has at the call', async (fs, modes) => {
    await fs.cp('/a', '/c', { recursive: true });
    equal(await modes('/c', '/c/x'), [0o700, 0o710]);
  });

  add('a directory that a copy adds to another one has the mode of its source', async (fs, modes) => {
    await fs.cp('/a', '/b', { recursive: true });
    equal(await modes('/b/x'), [0o710]);
  });

  add('the directories that the filter of a copy accepts have the modes of their sources', async (fs, modes) => {
    await fs.cp('/a', '/c', { recursive: true, filter: () => true });
    equal(await modes('/c', '/c/x'), [0o700, 0o710]);
  });
}

type ModesOf = (...paths: readonly string[]) => Promise<number[]>;
