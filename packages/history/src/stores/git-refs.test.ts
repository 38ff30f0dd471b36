import { type FileSystem, FsError, openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { describe, expect, it } from 'vitest';
import { History } from '../history.js';
import { GitDirectory } from './git-directory.js';

/** A filesystem without transactions, like a directory of the host. */
async function withoutTransactions(): Promise<FileSystem> {
  const fileSystem = await openFileSystem(new MemoryStorage());
  return new Proxy(fileSystem, {
    get(target, key) {
      if (key === 'transaction') return () => Promise.reject(new FsError('ENOTSUP', { syscall: 'transaction' }));
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('references on a filesystem without transactions', () => {
  it('wait while another process holds their locks', async () => {
    const disk = await withoutTransactions();
    await GitDirectory.init(disk);
    const writers = Array.from({ length: 8 }, async (_, number) => {
      const history = new History({ repository: await GitDirectory.open(disk) });
      const fileSystem = await openFileSystem(new MemoryStorage());
      for (let n = 0; n < 5; n++) await history.commit(fileSystem, { message: `${number} ${n}` });
    });
    await Promise.all(writers);
    let commits = 0;
    for await (const _ of new History({ repository: await GitDirectory.open(disk) }).log()) commits += 1;
    expect(commits).toBe(40);
    expect(await disk.readdir('/.git/refs/heads')).toEqual(['main']);
  });

  it.each([
    ['with transactions', () => openFileSystem(new MemoryStorage())],
    ['without', withoutTransactions],
  ])('fail if a lock stays: %s', async (_, open) => {
    const disk = await open();
    const history = new History({ repository: await GitDirectory.init(disk) });
    const fileSystem = await openFileSystem(new MemoryStorage());
    const id = await history.commit(fileSystem, { message: 'first' });
    await disk.writeFile('/.git/refs/heads/main.lock', '');
    await expect(history.commit(fileSystem, { message: 'second' })).rejects.toMatchObject({ code: 'ref-changed' });
    expect(await history.resolve('main')).toBe(id);
    await disk.unlink('/.git/refs/heads/main.lock');
    await history.commit(fileSystem, { message: 'third' });
  });

  it('with invalid names are ignored', async () => {
    const disk = await openFileSystem(new MemoryStorage());
    const history = new History({ repository: await GitDirectory.init(disk) });
    await history.commit(await openFileSystem(new MemoryStorage()), { message: 'first' });
    await disk.writeFile('/.git/refs/heads/main (copy)', 'x');
    expect(await history.refs()).toEqual(['refs/heads/main']);
    expect((await history.verify()).problems).toEqual([]);
  });

  it('of a linked work tree are elsewhere, and the error says so', async () => {
    const disk = await openFileSystem(new MemoryStorage());
    await disk.writeFile('/.git', 'gitdir: /elsewhere/.git/worktrees/a\n');
    await expect(GitDirectory.open(disk)).rejects.toThrow(/gitdir:/);
  });
});
