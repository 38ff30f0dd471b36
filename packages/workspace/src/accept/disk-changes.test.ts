import { createFileSystem, type SyncFileSystem } from 'scratchfs';
import { afterAll, describe, expect, it } from 'vitest';
import type { Attempt, PathDiff } from '../attempt-types.js';
import { decodeRecord, encodeRecord } from '../log/operation-record.js';
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

/** Rewrites the records as earlier versions did, which described an accept by what it changed in the attempt. */
async function describeByAttempt(store: SyncFileSystem, name: string, as: 'apply' | 'merge'): Promise<void> {
  const folder = `/attempts/${name}/operations`;
  for (const id of await store.readdir(folder)) {
    const path = `${folder}/${id}`;
    const { operation, accept, ...rest } = decodeRecord(await store.readText(path), path);
    if (accept === undefined && operation.target === undefined) continue;
    const { as: _, ...old } = operation;
    const changes = operation.changes.map(({ path, before }) => ({ path, before, after: 'disk' as const }));
    const known = accept && as === 'merge' ? ({ as, commit: 'c0ffee' } as const) : accept;
    await store.writeFile(path, encodeRecord({ operation: { ...old, changes }, accept: known, ...rest }));
  }
}

describe('the log of an accept by a version that described what it changed in the attempt', () => {
  async function oldStore(as: 'apply' | 'merge'): Promise<[string, SyncFileSystem]> {
    const disk = directories.directory({ 'a.txt': 'a\n', 'd/f': 'f\n', c: 'c\n' });
    const store = createFileSystem();
    await using workspace = await openWorkspace(disk, { store });
    const attempt = await workspace.attempt();
    await attempt.operation({}, async (fs) => {
      await fs.writeFile('/a.txt', 'A\n');
      await fs.rename('/d', '/e');
      await fs.rm('/c');
    });
    await attempt.accept();
    await attempt.undo();
    await attempt.redo();
    await describeByAttempt(store, attempt.name, as);
    return [disk, store];
  }

  it('has what the accept wrote, and so has that of its undo and redo', async () => {
    const [disk, store] = await oldStore('apply');
    await using workspace = await openWorkspace(disk, { store });
    const attempt = await workspace.attempt();
    const made = [
      'changed /a.txt +1 -1',
      'removed /c +0 -1',
      'removed /d +0 -0 1',
      'removed /d/f +0 -1',
      'added /e +0 -0',
      'added /e/f +1 -0',
    ];
    const { operations } = await attempt.log({ tool: 'accept' });
    expect(operations).toMatchObject([{ as: 'apply', changes: made.map(() => ({})) }]);
    for (const operation of [2, 4]) expect(linesOf((await attempt.diff({ operation })).paths)).toEqual(made);
    const back = linesOf((await attempt.diff({ operation: 3 })).paths);
    expect(back).toEqual(linesOf((await attempt.diff({ operation: 2, isReversed: true })).paths));
    expect(back).toContain('added /c +1 -0');
    const undone = await attempt.undo();
    expect(linesOf((await attempt.diff({ operation: undone })).paths)).toEqual(back);
    expect(undone.changes).toContainEqual(expect.objectContaining({ path: '/c', before: null }));
  });

  it('has what a merge changed in the attempt', async () => {
    const [disk, store] = await oldStore('merge');
    await using workspace = await openWorkspace(disk, { store });
    const attempt = await workspace.attempt();
    expect((await attempt.diff({ operation: 2 })).paths.map(({ path }) => path)).toContain('/d');
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
