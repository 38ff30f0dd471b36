import { createFileSystem } from 'scratchfs';
import { afterAll, expect, it, vi } from 'vitest';
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

it('a diff of operations far apart reads many operations together', async () => {
  const disk = directories.directory({ a: '' });
  const store = createFileSystem();
  const reads = vi.spyOn(store, 'readText');
  const open = () => openWorkspace(disk, { store });
  await using first = await open();
  const { fileSystem } = await first.createAttempt('one');
  for (let i = 1; i <= 300; i++) await fileSystem.writeFile('/a', String(i));
  await using second = await open();
  const attempt = await second.attempt('one');
  reads.mockClear();
  expect((await attempt.diff({ from: 1, hunks: true })).paths).toMatchObject([{ path: '/a', type: 'changed' }]);
  expect(reads.mock.calls.length).toBeLessThan(10);
});
