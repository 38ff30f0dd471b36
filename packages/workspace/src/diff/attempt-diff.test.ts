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
