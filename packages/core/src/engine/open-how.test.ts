import { describe, expect, it } from 'vitest';
import { asyncStorage } from '../async-storage.js';
import type { Backend } from '../backend.js';
import { openFileSystem } from '../create-file-system.js';
import type { OpenFlags } from '../file-system.js';
import { rootMeta } from './defaults.js';
import { MemoryExecutor } from './memory/memory-executor.js';
import { TreeBackend } from './tree-backend/tree-backend.js';

async function open() {
  const store = new TreeBackend(MemoryExecutor.create(rootMeta(0)));
  const commits: number[] = [];
  const watched: Backend = {
    capabilities: store.capabilities,
    load: (requests, call) => store.load(requests, call),
    commit: (batch, call) => {
      if (batch.writes.length > 0) commits.push(batch.writes.length);
      return store.commit(batch, call);
    },
    outcome: (id) => store.outcome(id),
    close: () => store.close(),
  };
  const fs = await openFileSystem(asyncStorage(watched), { files: { '/d/file': 'abc' } });
  await fs.symlink('file', '/d/link');
  commits.length = 0;
  const code = async (path: string, flags: OpenFlags): Promise<string> => {
    const handle = await fs.open(path, flags).catch((error: { code: string }) => error.code);
    if (typeof handle === 'string') return handle;
    await handle.close();
    return 'ok';
  };
  return { fs, commits, code };
}

describe('open with flags as an object', () => {
  it('takes one commit on a remote storage, whether it creates or truncates', async () => {
    const { fs, commits } = await open();
    const made = await fs.open('/d/new', { write: true, create: true });
    await made.write(new TextEncoder().encode('x'));
    await made.close();
    expect(await fs.readText('/d/new')).toBe('x');
    expect(commits.length).toBe(2);
    const emptied = await fs.open('/d/file', { read: true, truncate: true });
    expect((await emptied.stat()).size).toBe(0);
    await expect(emptied.write(new Uint8Array(1))).rejects.toMatchObject({ code: 'EBADF' });
    await emptied.close();
    expect(commits.length).toBe(3);
  });

  it('keeps the content without `truncate`, and writes at the given position or appends', async () => {
    const { fs } = await open();
    const kept = await fs.open('/d/file', { write: true, create: true });
    await kept.write(new TextEncoder().encode('X'), 0);
    await kept.close();
    const end = await fs.open('/d/file', { write: true, append: true });
    await end.write(new TextEncoder().encode('!'), 0);
    await end.close();
    expect(await fs.readText('/d/file')).toBe('Xbc!');
  });

  it.each([
    ['/d/missing', { write: true }, 'ENOENT'],
    ['/d/missing', { read: true, directory: true }, 'ENOENT'],
    ['/d/file', { write: true, create: true, exclusive: true }, 'EEXIST'],
    ['/d/link', { read: true, noFollow: true }, 'ELOOP'],
    ['/d/link', { read: true, noFollow: true, directory: true }, 'ENOTDIR'],
    ['/d/link', { write: true, create: true, noFollow: true }, 'ELOOP'],
    ['/d/link', { read: true }, 'ok'],
    ['/d/file', { read: true, directory: true }, 'ENOTDIR'],
    ['/d', { read: true, directory: true }, 'ok'],
    ['/d', { read: true, truncate: true }, 'EISDIR'],
  ] as const)('of %s with %j is %s', async (path, flags, expected) => {
    const { code, commits } = await open();
    expect(await code(path, flags)).toBe(expected);
    expect(commits).toEqual([]);
  });

  it('refuses flags that open for neither reading nor writing, and unknown ones', async () => {
    const { fs } = await open();
    for (const flags of [{}, { create: true }, { read: true, exclusive: true }, { read: 1 }, { reed: true }, null, 5])
      await expect(fs.open('/d/file', flags as never)).rejects.toThrow(/Error|flags|opened|exclusive|read|option/);
    for (const flags of [{}, { create: true }, { read: 1 }, { reed: true }])
      await expect(fs.open('/d/file', flags as never)).rejects.toBeInstanceOf(TypeError);
  });
});
