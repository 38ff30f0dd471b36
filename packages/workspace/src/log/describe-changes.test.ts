import { afterAll, describe, expect, it } from 'vitest';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

describe('a move', () => {
  it.each([
    ['in a directory that the attempt has created', {}, '/x'],
    ['in a directory of the disk', { 'x/y.txt': 'a\nb\n' }, '/x'],
    ['at the top', { 'y.txt': 'a\nb\n' }, ''],
  ])('%s is one path of the diff, and nothing was and is at its old path', async (_, files, at) => {
    await using workspace = await openWorkspace(directories.directory(files), { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.operation({}, async (fs) => {
      await fs.mkdir('/x', { recursive: true });
      await fs.writeFile(`${at}/y.txt`, 'a\nb\n');
      await fs.writeFile('/other.txt', '');
    });
    await attempt.fileSystem.rename(`${at}/y.txt`, `${at}/z.txt`);
    const [operation] = (await attempt.log()).operations;
    const state = { kind: 'file', size: 4 };
    expect(operation?.changes).toMatchObject([
      { path: `${at}/y.txt`, before: state, after: null },
      { path: `${at}/z.txt`, from: `${at}/y.txt`, before: null, after: state },
    ]);
    const { paths } = await attempt.diff({ operation: 2 });
    expect(paths).toMatchObject([{ path: `${at}/z.txt`, type: 'moved', from: `${at}/y.txt`, additions: 0 }]);
    expect(paths).toHaveLength(1);
    const { changes } = await attempt.undo();
    expect(changes).toMatchObject([
      { path: `${at}/y.txt`, from: `${at}/z.txt`, before: null, after: state },
      { path: `${at}/z.txt`, before: state, after: null },
    ]);
    expect((await attempt.diff({ operation: 3 })).paths).toMatchObject([{ path: `${at}/y.txt`, type: 'moved' }]);
  });
});
