import { afterAll, describe, expect, it } from 'vitest';
import type { Attempt, PathDiff } from '../attempt-types.js';
import { Directories, fill } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

const FILES = { 'src/a.js': 'a\n', 'src/deep/c.js': 'c\nd\n', 'src/deep/l': '-> c.js', 'three.js': '3\n' };

async function withAttempt(work: (attempt: Attempt, disk: string, fork: () => Promise<Attempt>) => Promise<void>) {
  const disk = directories.directory(FILES);
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  const attempt = await workspace.attempt();
  await work(attempt, disk, () => attempt.fork());
}

const brief = ({ path, from, type, deletions, files }: PathDiff): string =>
  [type, from === undefined ? path : `${from} -> ${path}`, `-${deletions}`, files]
    .filter((one) => one !== undefined)
    .join(' ');

const REMOVED = [
  'removed /src -0 3',
  'removed /src/a.js -1',
  'removed /src/deep -0 2',
  'removed /src/deep/c.js -2',
  'removed /src/deep/l -0',
];

describe('the difference of a removed directory', () => {
  it('has everything in it that an accept removes, against the disk and between operations', async () => {
    await withAttempt(async (attempt, disk, fork) => {
      await attempt.fileSystem.writeFile('/other', 'o');
      const kept = await fork();
      await attempt.fileSystem.rm('/src', { recursive: true });
      fill(disk, { 'src/mine': 'person' });
      const { paths } = await attempt.diff({ hunks: true, paths: ['/src'] });
      expect(paths.map(brief)).toEqual(REMOVED);
      expect(paths[1]?.hunks).toMatchObject([{ lines: ['-a'] }]);
      const { accepted } = await attempt.accept({ dryRun: true, paths: ['/src'] });
      // The directory stays with the person's file in it.
      expect(accepted).toEqual(paths.map(({ path }) => path).filter((path) => path !== '/src'));
      const { paths: compared } = await kept.diff({ to: attempt });
      expect(compared.map(brief)).toContain('removed /src/deep/c.js -2');
      const { paths: since } = await attempt.diff({ from: 1 });
      expect(since.map(brief)).toContain('removed /src/deep/c.js -2');
    });
  });

  it('does not list the old path of a moved one, and counts as changedPaths does', async () => {
    const disk = directories.directory(FILES);
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/src', '/lib');
    expect((await attempt.diff()).paths.map(brief)).toEqual(['moved /src -> /lib -0']);
    expect(await workspace.attempts()).toMatchObject([{ changedPaths: 1 }]);
  });

  it('has what a new directory in its place no longer has', async () => {
    await withAttempt(async (attempt) => {
      await attempt.fileSystem.rm('/src', { recursive: true });
      await attempt.fileSystem.mkdir('/src');
      await attempt.fileSystem.writeFile('/src/new', 'n');
      const { paths } = await attempt.diff();
      const { accepted } = await attempt.accept({ dryRun: true });
      expect(paths.map(({ path }) => path)).toEqual(accepted);
      expect(accepted).toContain('/src/a.js');
    });
  });

  it('is a count alone if it holds more than 2,000 files', async () => {
    await withAttempt(async (attempt, disk) => {
      fill(disk, Object.fromEntries(Array.from({ length: 2_100 }, (_, i) => [`big/${i}`, ''])));
      await attempt.fileSystem.rm('/big', { recursive: true });
      expect((await attempt.diff()).paths.map(brief)).toEqual(['removed /big -0 2100']);
    });
  });
});

describe('the difference of two attempts', () => {
  it('has a moved file once, with the state at its old path', async () => {
    await withAttempt(async (attempt, _, fork) => {
      await attempt.fileSystem.writeFile('/other', 'o');
      const moved = await fork();
      await moved.fileSystem.rename('/three.js', '/src/l3.js');
      const { paths } = await attempt.diff({ to: moved });
      expect(paths).toMatchObject([
        { path: '/src/l3.js', from: '/three.js', type: 'moved', before: { size: 2 }, after: { size: 2 }, deletions: 0 },
      ]);
      const { paths: back } = await moved.diff({ to: attempt });
      expect(back).toMatchObject([{ path: '/three.js', from: '/src/l3.js', type: 'moved', after: { size: 2 } }]);
    });
  });

  it("is the other's own difference if it begins at the disk", async () => {
    await withAttempt(async (attempt, _, fork) => {
      const other = await fork();
      await attempt.fileSystem.writeFile('/mine', 'm');
      await other.fileSystem.writeFile('/other', 'o');
      expect((await attempt.diff({ from: 'disk', to: other })).paths.map(brief)).toEqual(['added /other -0']);
      expect((await attempt.diff({ to: other })).paths.map(brief)).toEqual(['removed /mine -1', 'added /other -0']);
    });
  });
});

describe('the summary of a removed directory', () => {
  it('names the directory, also if files in it had been changed', async () => {
    await withAttempt(async (attempt) => {
      await attempt.fileSystem.writeFile('/src/a.js', 'A');
      await attempt.fileSystem.rm('/src', { recursive: true });
      expect((await attempt.log()).operations[0]?.summary).toBe("Remove '/src'");
    });
  });
});
