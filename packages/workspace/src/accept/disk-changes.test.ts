import { afterAll, describe, expect, it } from 'vitest';
import type { Attempt, PathDiff } from '../attempt-types.js';
import { Directories, fill } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

async function withAttempt(work: (attempt: Attempt, disk: string) => Promise<void>): Promise<void> {
  const disk = directories.directory({ 'src/a.txt': 'a\n', 'src/b.txt': 'b\n', 'old.txt': 'old\n', 'c.txt': 'c\n' });
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  await work(await workspace.attempt(), disk);
}

const linesOf = (paths: readonly PathDiff[]): string[] =>
  paths.map(({ path, type, from, files, additions, deletions }) =>
    [type, ...(from === undefined ? [] : [from]), path, `+${additions} -${deletions}`, files].join(' ').trim(),
  );

describe('the log of an accept', () => {
  it('has what the accept, its undo and its redo changed on the disk', async () => {
    await withAttempt(async (attempt) => {
      const fs = attempt.fileSystem;
      await fs.rm('/src', { recursive: true });
      await fs.mkdir('/docs');
      await fs.writeFile('/docs/new.md', 'new\n');
      await fs.rename('/old.txt', '/moved.txt');
      const { operation } = await attempt.accept();
      expect(operation?.changes).toMatchObject([
        { path: '/docs', before: null, after: { kind: 'directory' } },
        { path: '/docs/new.md', before: null, after: { kind: 'file', size: 4 } },
        { path: '/moved.txt', from: '/old.txt', before: null, after: { size: 4 } },
        { path: '/old.txt', before: { size: 4 }, after: null },
        { path: '/src', before: { kind: 'directory' }, after: null },
        { path: '/src/a.txt', before: { size: 2 }, after: null },
        { path: '/src/b.txt', before: { size: 2 }, after: null },
      ]);
      const accept = operation?.id as number;
      const made = [
        'added /docs +0 -0',
        'added /docs/new.md +1 -0',
        'moved /old.txt /moved.txt +0 -0',
        'removed /src +0 -0 2',
        'removed /src/a.txt +0 -1',
        'removed /src/b.txt +0 -1',
      ];
      const back = [
        'removed /docs +0 -0 1',
        'removed /docs/new.md +0 -1',
        'moved /moved.txt /old.txt +0 -0',
        'added /src +0 -0',
        'added /src/a.txt +1 -0',
        'added /src/b.txt +1 -0',
      ];
      expect(linesOf((await attempt.diff({ operation: accept })).paths)).toEqual(made);
      expect(linesOf((await attempt.diff({ operation: accept, isReversed: true })).paths)).toEqual(back);
      const undone = await attempt.undo();
      expect(undone.changes.find(({ path }) => path === '/src')).toMatchObject({
        before: null,
        after: { kind: 'directory' },
      });
      expect(linesOf((await attempt.diff({ operation: undone })).paths)).toEqual(back);
      const redone = await attempt.redo();
      expect(linesOf((await attempt.diff({ operation: redone, paths: ['/src/a.txt'] })).paths)).toEqual([
        'removed /src/a.txt +0 -1',
      ]);
      expect((await attempt.log({ path: '/src/b.txt' })).operations.map(({ tool }) => tool)).toEqual([
        'redo',
        'undo',
        'accept',
      ]);
    });
  });

  it('lets an undo find what the person has changed at a path that the accept did not write', async () => {
    await withAttempt(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/c.txt', 'agent\n');
      fill(disk, { 'c.txt': 'agent\n' });
      const { operation } = await attempt.accept();
      expect(operation).toMatchObject({ as: 'apply', changes: [] });
      fill(disk, { 'c.txt': 'person\n' });
      const { refreshed } = await attempt.undo();
      expect(refreshed.conflicts).toMatchObject([{ path: '/c.txt', code: 'content' }]);
    });
  });
});

describe('attempt.diff({ operation })', () => {
  it('excludes from and to, and is needed for isReversed', async () => {
    await withAttempt(async (attempt) => {
      await expect(attempt.diff({ operation: 1, to: 1 })).rejects.toThrow('operation excludes from and to');
      await expect(attempt.diff({ isReversed: true })).rejects.toThrow('isReversed needs operation');
      await expect(attempt.diff({ operation: 3 })).rejects.toThrow('no operation 3');
    });
  });
});
