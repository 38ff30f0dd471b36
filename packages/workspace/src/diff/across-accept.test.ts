import { afterAll, expect, it } from 'vitest';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

it('operations before and after an accept, or its undo, differ only in what their states do', async () => {
  const disk = directories.directory({ 'edited.js': 'old\n', 'gone.js': '1\n', 'dir/a.js': 'a\n', 'src/b.js': 'b\n' });
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  const attempt = await workspace.attempt();
  const { fileSystem } = attempt;
  const differing = async (from: number, to?: number): Promise<string[]> =>
    (await attempt.diff({ from, to, hunks: true })).paths.map(
      ({ path, type, additions, deletions }) => `${type} ${path} +${additions} -${deletions}`,
    );
  await fileSystem.writeFile('/edited.js', 'new\n');
  await fileSystem.writeFile('/added.js', 'x\n');
  await fileSystem.rm('/gone.js');
  await fileSystem.rm('/dir', { recursive: true });
  await fileSystem.rename('/src', '/lib');
  const before = await attempt.head();
  expect((await attempt.accept()).success).toBe(true);
  const accepted = await attempt.head();
  expect(await differing(before, accepted)).toEqual([]);
  expect(await differing(accepted, before)).toEqual([]);
  expect(await differing(before)).toEqual([]);
  await fileSystem.writeFile('/edited.js', 'newer\n');
  expect(await differing(before)).toEqual(['changed /edited.js +1 -1']);
  expect(await differing(before + 2, before)).toEqual(['changed /edited.js +1 -1']);
  await attempt.undo();
  await attempt.undo();
  expect(await differing(before)).toEqual([]);
  expect(await differing(await attempt.head(), before)).toEqual([]);
  // What single operations did stays as it was.
  expect(await differing(0, 1)).toEqual(['changed /edited.js +1 -1']);
});
