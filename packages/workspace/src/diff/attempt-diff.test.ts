import { linkSync } from 'node:fs';
import { join } from 'node:path';
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
      const hunks = paths.flatMap((path) => path.hunks);
      expect(hunks).toHaveLength(2);
      for (const { id } of hunks)
        expect((await attempt.accept({ hunks: [id], dryRun: true })).accepted).toEqual(
          expect.arrayContaining(['/c', `/${to}`]),
        );
    },
  );

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
