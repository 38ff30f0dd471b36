import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HostHistory } from '@scratchfs/host';
import { createFileSystem } from 'scratchfs';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { Directories, type Entry, fill } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

const lines = (count: number, change: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: count }, (_, i) => `${change[i + 1] ?? `line ${i + 1}`}\n`).join('');

const FILES: Readonly<Record<string, Entry>> = {
  'a.txt': lines(30),
  'b/c.txt': 'c\n',
  run: '#!/bin/sh\n',
  link: '-> a.txt',
};

const read = (directory: string, path: string): string => readFileSync(join(directory, path), 'utf8');

async function withAttempt(disk: string, work: (attempt: Attempt) => Promise<void>): Promise<void> {
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  await work(await workspace.createAttempt('calm-otter'));
}

/** Returns what must stay as it is while a branch gets a commit. */
function visible(repository: string): string {
  const parts = [
    ['status', '--porcelain=v2', '--untracked-files=all'],
    ['diff'],
    ['diff', '--cached'],
    ['rev-parse', 'HEAD'],
    ['symbolic-ref', 'HEAD'],
  ];
  return parts.map((args) => directories.git(repository, ...args)).join('\n--\n');
}

describe('an accept as a branch', () => {
  it('commits the changes alone on HEAD, and leaves a dirty work tree and the index as they are', async () => {
    const repository = directories.repository(FILES);
    fill(repository, { 'a.txt': lines(30, { 20: 'person' }), 'staged.txt': 'staged', 'untracked.txt': 'untracked' });
    directories.git(repository, 'add', 'staged.txt');
    const before = visible(repository);
    await withAttempt(repository, async (attempt) => {
      const fs = attempt.fileSystem;
      await fs.editFile('/a.txt', 'line 3\n', 'agent\n');
      await fs.rename('/b/c.txt', '/b/moved.txt');
      await fs.chmod('/run', 0o755);
      await fs.unlink('/link');
      await fs.symlink('run', '/link');
      await fs.editFile('/untracked.txt', 'untracked', 'agent');
      const result = await attempt.accept({ as: 'branch', message: 'From the agent' });
      expect(result).toMatchObject({ success: true, message: expect.stringContaining("the branch 'calm-otter'") });
      expect(visible(repository)).toBe(before);
      const show = (path: string): string => directories.git(repository, 'show', `calm-otter:${path}`);
      expect(show('a.txt')).toBe(lines(30, { 3: 'agent' }));
      expect([show('b/moved.txt'), show('untracked.txt'), show('link')]).toEqual(['c\n', 'agent', 'run']);
      const tree = directories.git(repository, 'ls-tree', '-r', 'calm-otter');
      expect(tree).toMatch(/^100755 blob \w+\trun$/m);
      expect(tree).not.toMatch(/staged|b\/c/);
      expect(directories.git(repository, 'log', '-1', '--format=%s %P', 'calm-otter')).toBe(
        `From the agent ${directories.git(repository, 'rev-parse', 'HEAD')}`,
      );
      expect(directories.git(repository, 'rev-parse', 'calm-otter').trim()).toBe(result.commit);
      // The disk has none of it, so it stays open.
      expect((await attempt.diff()).paths.length).toBe(5);

      const again = await attempt.accept({ as: 'branch' });
      expect(again).toMatchObject({ success: true, operation: undefined });
      await fs.writeFile('/more.txt', 'more');
      await attempt.accept({ as: 'branch', paths: ['/more.txt'] });
      expect(directories.git(repository, 'rev-parse', 'calm-otter~1').trim()).toBe(result.commit);
      await attempt.undo();
      expect(directories.git(repository, 'rev-parse', 'calm-otter').trim()).toBe(result.commit);
      await attempt.undo();
      await attempt.undo();
      expect(directories.git(repository, 'branch', '--list', 'calm-otter')).toBe('');
      await attempt.redo();
      expect(directories.git(repository, 'rev-parse', 'calm-otter').trim()).toBe(result.commit);
      directories.git(repository, 'branch', '-f', 'calm-otter', 'main');
      await expect(attempt.undo()).rejects.toThrow("The branch 'calm-otter' is not where it was left.");
      expect(visible(repository)).toBe(before);
    });
  });

  it('returns a conflict for a file whose uncommitted edits the change needs', async () => {
    const repository = directories.repository(FILES);
    fill(repository, { 'a.txt': lines(30, { 4: 'person' }) });
    await withAttempt(repository, async (attempt) => {
      await attempt.fileSystem.editFile('/a.txt', 'person\n', 'agent\n');
      await attempt.fileSystem.writeFile('/new.txt', 'new');
      const result = await attempt.accept({ as: 'branch' });
      expect(result).toMatchObject({ success: false, conflicts: [{ path: '/a.txt', code: 'content' }] });
      expect(directories.git(repository, 'branch', '--list', 'calm-otter')).toBe('');
      expect(await attempt.accept({ as: 'branch', onConflict: 'skip' })).toMatchObject({ accepted: ['/new.txt'] });
    });
  });

  it('commits the content of a file whose mode it changes, also where the person has other edits', async () => {
    const repository = directories.repository({ 'a.txt': 'A\n' });
    fill(repository, { 'a.txt': 'B\n' });
    await withAttempt(repository, async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', 'A\n');
      await attempt.fileSystem.chmod('/a.txt', 0o755);
      expect(await attempt.accept({ as: 'branch' })).toMatchObject({ success: true });
      expect(directories.git(repository, 'cat-file', 'blob', 'calm-otter:a.txt')).toBe('A\n');
    });
  });

  it('stores the line ends that the attributes ask for', async () => {
    const repository = directories.repository({ '.gitattributes': '*.txt text eol=crlf\n', 'a.txt': 'one\r\ntwo\r\n' });
    await withAttempt(repository, async (attempt) => {
      await attempt.fileSystem.editFile('/a.txt', 'two', 'zwei');
      await attempt.accept({ as: 'branch' });
      expect(directories.git(repository, 'cat-file', 'blob', 'calm-otter:a.txt')).toBe('one\nzwei\n');
    });
  });

  it('refuses paths with a filter, in submodules and in other repositories by name, and commits nothing', async () => {
    const inner = directories.repository({ 'in.txt': 'in' });
    const repository = directories.repository({ ...FILES, '.gitattributes': '*.bin filter=lfs\n', 'large.bin': 'x' });
    directories.git(repository, 'submodule', '--quiet', 'add', inner, 'sub');
    directories.commit(repository, 'submodule');
    fill(repository, { 'nested/n.txt': 'n' });
    directories.git(join(repository, 'nested'), 'init', '-q');
    for (const [path, reason] of [
      ['large.bin', /it has a filter/],
      ['sub/in.txt', /a submodule is there/],
      ['nested/n.txt', /it lies in another repository/],
    ] as const)
      await withAttempt(repository, async (attempt) => {
        await attempt.fileSystem.writeFile('/a.txt', 'a');
        await attempt.fileSystem.writeFile(`/${path}`, 'agent');
        for (const as of ['branch', 'merge', 'patch'] as const) {
          await expect(attempt.accept({ as })).rejects.toThrow(reason);
          await expect(attempt.accept({ as })).rejects.toThrow(`/${path}`);
        }
        expect(directories.git(repository, 'branch', '--list', 'calm-otter')).toBe('');
        expect(await attempt.accept({ as: 'branch', paths: ['/a.txt'], dryRun: true })).toMatchObject({
          success: true,
        });
        // An accept as `apply` takes such a path like any other.
        expect(await attempt.accept()).toMatchObject({ success: true });
        expect(read(repository, path)).toBe('agent');
        await attempt.undo();
      });
  });

  it('works in a linked work tree and refuses a branch that is checked out, and folders', async () => {
    const main = directories.repository(FILES);
    const linked = join(directories.top, 'linked');
    directories.git(main, 'worktree', 'add', '-q', '-b', 'topic', linked);
    await withAttempt(linked, async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', 'agent');
      for (const branch of ['main', 'topic'])
        await expect(attempt.accept({ as: 'branch', branch })).rejects.toThrow(/is checked out in/);
      await expect(attempt.accept({ as: 'branch', branch: '-x' })).rejects.toThrow(/not a name for a branch/);
      await attempt.accept({ as: 'branch', branch: 'feature/x' });
      expect(directories.git(main, 'show', 'feature/x:a.txt')).toBe('agent');
    });
    await withAttempt(directories.directory(FILES), async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', 'agent');
      await expect(attempt.accept({ as: 'branch' })).rejects.toMatchObject({ code: 'refused' });
    });
  });
});

describe('an accept as a merge', () => {
  it('merges into the branch of the user, after which the attempt has no changes', async () => {
    const repository = directories.repository(FILES);
    await withAttempt(repository, async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', 'agent\n');
      await attempt.fileSystem.mkdir('/new');
      await attempt.fileSystem.writeFile('/new/n.txt', 'n');
      rmSync(join(repository, 'run'));
      const dirty = await attempt.accept({ as: 'merge' });
      expect(dirty).toMatchObject({ success: false, message: expect.stringContaining('not committed') });
      directories.git(repository, 'checkout', '-q', 'run');
      const result = await attempt.accept({ as: 'merge', message: 'Agent' });
      expect(result).toMatchObject({ success: true, accepted: ['/a.txt', '/new/n.txt'] });
      expect(directories.git(repository, 'status', '--porcelain')).toBe('');
      expect([read(repository, 'a.txt'), read(repository, 'new/n.txt')]).toEqual(['agent\n', 'n']);
      expect(directories.git(repository, 'rev-parse', 'HEAD').trim()).toBe(result.commit);
      expect((await attempt.diff()).paths).toEqual([]);
      await expect(attempt.undo()).rejects.toThrow(`git revert ${result.commit}`);
    });
  });

  it('needs no content from before the changes, and has a conflict where it would merge with a missing one', async () => {
    const repository = directories.repository({ ...FILES, 'both.txt': 'one\ntwo\nthree\nfour\n' });
    const store = createFileSystem();
    {
      await using workspace = await openWorkspace(repository, { store });
      const { fileSystem } = await workspace.attempt();
      await fileSystem.editFile('/a.txt', 'line 3\n', 'agent\n');
      await fileSystem.editFile('/both.txt', 'one', 'agent');
    }
    const old = [lines(30), 'one\ntwo\nthree\nfour\n'].map((text) => createHash('sha256').update(text).digest('hex'));
    for (const hash of old) await store.unlink(`/contents/${hash[0]}/${hash[1]}/${hash}`);
    fill(repository, { 'both.txt': 'one\ntwo\nthree\nperson\n' });
    directories.commit(repository, 'person');
    await using workspace = await openWorkspace(repository, { store });
    const attempt = await workspace.attempt();
    const conflicts = [{ path: '/both.txt', code: 'binary' }];
    expect(await attempt.accept({ as: 'merge' })).toMatchObject({ success: false, conflicts });
    expect(await attempt.accept({ as: 'merge', onConflict: 'skip' })).toMatchObject({
      accepted: ['/a.txt'],
      conflicts,
    });
    expect(read(repository, 'a.txt')).toBe(lines(30, { 3: 'agent' }));
    expect((await attempt.refresh()).conflicts).toMatchObject(conflicts);
    expect(await attempt.fileSystem.readText('/both.txt')).toBe('agent\ntwo\nthree\nfour\n');
    expect(read(repository, 'both.txt')).toBe('one\ntwo\nthree\nperson\n');
  });

  it('is in the log also if its signal aborts once git has merged', async () => {
    const repository = directories.repository(FILES);
    const controller = new AbortController();
    const { executeMerge } = HostHistory.prototype;
    using _ = vi.spyOn(HostHistory.prototype, 'executeMerge').mockImplementationOnce(async function (
      this: HostHistory,
      ...args
    ) {
      const result = await executeMerge.apply(this, args);
      controller.abort();
      return result;
    });
    await withAttempt(repository, async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', 'agent');
      expect(await attempt.accept({ as: 'merge', signal: controller.signal })).toMatchObject({ success: true });
      expect((await attempt.log()).operations.map(({ tool }) => tool)).toEqual(['accept', 'edit']);
      expect((await attempt.diff()).paths).toEqual([]);
    });
  });

  it('keeps modes and removals', async () => {
    const repository = directories.repository(FILES);
    await withAttempt(repository, async (attempt) => {
      await attempt.fileSystem.rm('/b', { recursive: true });
      await attempt.fileSystem.chmod('/run', 0o755);
      expect(await attempt.accept({ as: 'merge' })).toMatchObject({ success: true });
      const shown = directories.git(repository, 'show', '--format=', '--summary', 'HEAD').trim().split('\n');
      expect(shown.map((line) => line.trim())).toEqual([
        'delete mode 100644 b/c.txt',
        'mode change 100644 => 100755 run',
      ]);
      expect((await attempt.diff()).paths).toEqual([]);
    });
  });
});
