import { asyncForm } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { asyncMemoryStorage, createFileSystem, type FileSystem, MemoryStorage } from './index.js';

const FORMS: readonly (readonly [string, () => Promise<FileSystem>])[] = [
  ['memory', async () => createFileSystem()],
  ['a remote storage', async () => createFileSystem({ storage: asyncMemoryStorage() })],
  ['the far form of a storage', async () => createFileSystem({ storage: asyncForm(new MemoryStorage()) })],
];

describe.each(FORMS)('copying a link over %s', (_, open) => {
  it('never replaces the file that the link leads to', async () => {
    const fs = await open();
    await fs.writeFile('/a', 'precious');
    await fs.symlink('a', '/l');
    await fs.symlink('/l', '/m');
    for (const link of ['/l', '/m'])
      await expect(fs.cp(link, '/a')).rejects.toMatchObject({ code: 'EEXIST', path: link, dest: '/a' });
    expect(await fs.readText('/a')).toBe('precious');
    await fs.cp('/l', '/a', { force: false });
    expect(await fs.readText('/l')).toBe('precious');
  });

  it('stops a recursive copy before anything has changed, if it would', async () => {
    const fs = await open();
    await fs.mkdir('/s');
    await fs.mkdir('/d');
    await fs.writeFile('/s/first', 'new');
    await fs.writeFile('/d/x', 'precious');
    await fs.symlink('../d/x', '/s/x');
    await expect(fs.cp('/s', '/d', { recursive: true })).rejects.toMatchObject({
      code: 'EEXIST',
      path: '/s',
      dest: '/d',
    });
    expect(await fs.readdir('/d')).toEqual(['x']);
    expect(await fs.readText('/d/x')).toBe('precious');
  });

  it('replaces other files and links, dangling links too', async () => {
    const fs = await open();
    for (const name of ['/a', '/b', '/c']) await fs.writeFile(name, name);
    await fs.symlink('a', '/l');
    await fs.symlink('missing', '/dangling');
    await fs.cp('/l', '/b');
    await fs.cp('/dangling', '/c');
    await fs.cp('/l', '/dangling');
    expect(await Promise.all(['/b', '/c', '/dangling'].map((path) => fs.readlink(path)))).toEqual([
      'a',
      'missing',
      'a',
    ]);
  });
});
