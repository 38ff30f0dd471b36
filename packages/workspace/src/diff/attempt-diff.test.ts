import { linkSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { afterAll, describe, expect, it } from 'vitest';
import { Directories, fill } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

describe('attempt.diff()', () => {
  it('compares a changed file in a moved directory with the file that the person has put at its path', async () => {
    const disk = directories.directory({ 'c/f': 'old\n', 'c/g': 'old\n' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/c', '/n');
    await attempt.fileSystem.writeFile('/n/f', 'agent\n');
    fill(disk, { 'c/f': 'person, old path\n', 'n/f': 'person, new path\n' });
    const { paths } = await attempt.diff({ hunks: true });
    const found = paths.find(({ path }) => path === '/n/f');
    expect(found?.hunks.map(({ lines }) => lines)).toEqual([['-person, new path', '+agent']]);
  });

  it.each(['new', 'b'])(
    'shows each name of a moved and edited file as an accept takes it, if one moves to %s',
    async (to) => {
      const disk = directories.directory({ a: 'a\n', b: 'b\n' });
      linkSync(join(disk, 'a'), join(disk, 'c'));
      await using workspace = await openWorkspace(disk, { store: 'memory:' });
      const attempt = await workspace.attempt();
      await attempt.fileSystem.rename('/a', `/${to}`);
      await attempt.fileSystem.writeFile(`/${to}`, 'agent\n');
      const { paths } = await attempt.diff({ hunks: true });
      expect(paths.find(({ path }) => path === '/c')).toMatchObject({ type: 'changed' });
      const hunks = paths.flatMap(({ after, hunks }) => (after === null ? [] : hunks));
      expect(hunks).toHaveLength(2);
      for (const { id } of hunks)
        expect((await attempt.accept({ hunks: [id], dryRun: true })).accepted).toEqual(
          expect.arrayContaining(['/c', `/${to}`]),
        );
    },
  );

  it.each<[string, (fs: FileSystem) => Promise<void>, string[]]>([
    ['has several names and replaced another file', (fs) => fs.rename('/a', '/b'), ['removed /a', 'changed /b']],
    [
      'changed places with another one',
      async (fs) => {
        await fs.rename('/b', '/t');
        await fs.rename('/d', '/b');
        await fs.rename('/t', '/d');
      },
      ['changed /b', 'changed /d'],
    ],
    [
      'left a path at which another one was written',
      async (fs) => {
        await fs.rename('/b', '/new');
        await fs.writeFile('/b', 'agent\n');
      },
      ['changed /b', 'added /new'],
    ],
    [
      'has one name and replaced another file',
      (fs) => fs.writeFile('/b', 'agent\n').then(() => fs.rename('/b', '/d')),
      ['moved /d'],
    ],
  ])('shows a file as moved only if an accept takes its old path along: one that %s', async (_, move, shown) => {
    const disk = directories.directory({ a: 'a\n', b: 'b\n', d: 'd\n' });
    linkSync(join(disk, 'a'), join(disk, 'c'));
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await move(attempt.fileSystem);
    const { paths } = await attempt.diff({ hunks: true });
    expect(paths.map(({ type, path }) => `${type} ${path}`)).toEqual(shown);
    for (const { path, from, hunks } of paths)
      expect((await attempt.accept({ hunks: hunks.map(({ id }) => id), dryRun: true })).accepted).toEqual(
        from === undefined ? [path] : [from, path],
      );
  });

  it('shows a moved directory as moved after the undo of its accept too', async () => {
    const disk = directories.directory({ 'c/f': 'old\n' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/c', '/n');
    await attempt.accept();
    await attempt.undo();
    expect((await attempt.diff()).paths).toMatchObject([{ path: '/n', type: 'moved', from: '/c' }]);
  });
});
