import { linkSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { afterAll, describe, expect, it } from 'vitest';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

describe('restore() of one path', () => {
  it('gives a file with several names what it had, if the name under which it was changed is gone', async () => {
    const disk = directories.directory({ 'd/a': 'old\n' });
    linkSync(join(disk, 'd/a'), join(disk, 'b'));
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    const { fileSystem } = attempt;
    await fileSystem.writeFile('/d/a', 'new\n');
    await fileSystem.rename('/d/a', '/x');
    await fileSystem.rm('/d', { recursive: true });
    const read = async (): Promise<string[]> => [await fileSystem.readText('/b'), await fileSystem.readText('/x')];
    expect(await read()).toEqual(['new\n', 'new\n']);
    await attempt.restore(0, { path: '/b' });
    expect(await read()).toEqual(['old\n', 'old\n']);
  });
});

async function open() {
  const workspace = await openWorkspace(directories.directory({ a: 'a', 'd/f': 'f', 'd/g': 'g' }), {
    store: 'memory:',
  });
  const attempt = await workspace.attempt();
  const { fileSystem } = attempt;
  const diff = async () => (await attempt.diff()).paths.map(({ type, path }) => `${type} ${path}`).sort();
  return { attempt, fileSystem, diff, [Symbol.asyncDispose]: () => workspace.close() };
}

describe("restore('disk') of the new path of a move", () => {
  it('is refused if the old name of a directory was taken anew, until that is moved away', async () => {
    await using scene = await open();
    const { attempt, fileSystem, diff } = scene;
    await fileSystem.rename('/d', '/x');
    await fileSystem.mkdir('/d');
    await fileSystem.writeFile('/d/new', 'new');
    const before = await diff();
    await expect(attempt.restore('disk', { path: '/x' })).rejects.toThrow(/would go back to '\/d', where/u);
    expect(await diff()).toEqual(before);
    await fileSystem.rename('/d', '/e');
    await attempt.restore('disk', { path: '/x' });
    expect(await diff()).toEqual(['added /e', 'added /e/new']);
    expect(await fileSystem.readdir('/d')).toEqual(['f', 'g']);
  });

  it.each<[string, string, (fs: FileSystem) => Promise<unknown>]>([
    [
      'was removed after it was taken anew',
      '/x',
      async (fs) => {
        await fs.rename('/d', '/x');
        await fs.mkdir('/d');
        await fs.rmdir('/d');
      },
    ],
    [
      'lies in a directory that was removed',
      '/x',
      async (fs) => {
        await fs.rename('/d/f', '/x');
        await fs.rm('/d', { recursive: true });
      },
    ],
  ])('brings back an old name that %s', async (_, path, work) => {
    await using scene = await open();
    await work(scene.fileSystem);
    await scene.attempt.restore('disk', { path });
    expect(await scene.diff()).toEqual([]);
  });

  it('brings back an old name in a directory that was moved', async () => {
    await using scene = await open();
    const { attempt, fileSystem } = scene;
    await fileSystem.rename('/d', '/x');
    await fileSystem.rename('/x/f', '/y');
    await attempt.restore('disk', { path: '/y' });
    expect([await fileSystem.exists('/y'), await fileSystem.readText('/x/f')]).toEqual([false, 'f']);
  });

  it('leaves a file that was written at the old name of another file', async () => {
    await using scene = await open();
    const { attempt, fileSystem, diff } = scene;
    await fileSystem.rename('/a', '/b');
    await fileSystem.writeFile('/a', 'new');
    await attempt.restore('disk', { path: '/b' });
    expect([await diff(), await fileSystem.readText('/a')]).toEqual([['changed /a'], 'new']);
  });
});

describe("restore('disk') of a path in a directory", () => {
  it('is refused if the attempt has a file in place of the directory', async () => {
    await using scene = await open();
    const { attempt, fileSystem } = scene;
    await fileSystem.rm('/d', { recursive: true });
    await fileSystem.writeFile('/d', 'AGENT');
    await expect(attempt.restore('disk', { path: '/d/f' })).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining("'/d' on the way to '/d/f' is no directory"),
    });
    expect(await fileSystem.readText('/d')).toBe('AGENT');
    await attempt.restore('disk', { path: '/d' });
    expect(await scene.diff()).toEqual([]);
  });
});
