import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { Directories, fill } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

/** Entries in `pkg` that git ignores, and a secret: an accept must not remove them. */
const ALONE = ['pkg/node_modules/x/index.js', 'pkg/deep/er/dist/built.js', 'pkg/.env'];
const TRACKED = ['pkg/a.txt', 'pkg/deep/er/b.txt', 'pkg/deep/er/dist/tracked.js'];

/** A repository with ignored directories deep in another one, and an attempt on it. */
async function withAttempt(work: (attempt: Attempt, disk: string) => Promise<void>): Promise<void> {
  const disk = directories.repository({
    '.gitignore': 'node_modules/\ndist/\n',
    'pkg/a.txt': 'a',
    'pkg/deep/er/b.txt': 'b',
  });
  fill(disk, { 'pkg/deep/er/dist/tracked.js': 't' });
  directories.git(disk, 'add', '-f', 'pkg/deep/er/dist/tracked.js');
  directories.git(disk, 'commit', '-q', '-m', 'tracked');
  fill(disk, Object.fromEntries(ALONE.map((path) => [path, 'alone'])));
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  await work(await workspace.attempt(), disk);
}

const areOn = (disk: string, paths: readonly string[]): boolean[] => paths.map((path) => existsSync(join(disk, path)));
const ALL = [true, true, true];
const NONE = [false, false, false];

describe('ignored directories and hidden files', () => {
  it('stay when the directory that they are in is removed, and undo and redo leave them too', async () => {
    await withAttempt(async (attempt, disk) => {
      await attempt.fileSystem.rm('/pkg', { recursive: true });
      const dry = await attempt.accept({ dryRun: true });
      const { success, message, accepted } = await attempt.accept();
      expect(success).toBe(true);
      expect(message).toContain("Not empty, so they stay: '/pkg', '/pkg/deep', '/pkg/deep/er', '/pkg/deep/er/dist'.");
      expect(dry.message).toContain('Not empty');
      expect(accepted).not.toContain('/pkg/node_modules');
      expect([areOn(disk, ALONE), areOn(disk, TRACKED)]).toEqual([ALL, NONE]);
      expect(await attempt.fileSystem.readdir('/pkg')).toEqual(['deep', 'node_modules']);
      expect((await attempt.diff()).paths).toEqual([]);
      await attempt.undo();
      expect([areOn(disk, ALONE), areOn(disk, TRACKED)]).toEqual([ALL, ALL]);
      expect(await attempt.fileSystem.exists('/pkg')).toBe(false);
      await attempt.redo();
      expect([areOn(disk, ALONE), areOn(disk, TRACKED)]).toEqual([ALL, NONE]);
      for (const path of ALONE) expect(readFileSync(join(disk, path), 'utf8')).toBe('alone');
    });
  });

  it('stay at the old path when the directory is moved', async () => {
    await withAttempt(async (attempt, disk) => {
      await attempt.fileSystem.rename('/pkg', '/lib');
      const { message } = await attempt.accept();
      expect(message).toContain("Not empty, so they stay: '/pkg'");
      const moved = (paths: readonly string[]): string[] => paths.map((path) => path.replace('pkg', 'lib'));
      expect([areOn(disk, ALONE), areOn(disk, TRACKED)]).toEqual([ALL, NONE]);
      expect([areOn(disk, moved(ALONE)), areOn(disk, moved(TRACKED))]).toEqual([NONE, ALL]);
      expect((await attempt.diff()).paths).toEqual([]);
      await attempt.undo();
      expect([areOn(disk, ALONE), areOn(disk, TRACKED), areOn(disk, ['lib'])]).toEqual([ALL, ALL, [false]]);
    });
  });

  it('make a conflict of a file in place of their directory, of which nothing is written then', async () => {
    await withAttempt(async (attempt, disk) => {
      await attempt.fileSystem.rm('/pkg', { recursive: true });
      await attempt.fileSystem.writeFile('/pkg', 'a file');
      await attempt.fileSystem.writeFile('/other.txt', 'other');
      const failed = await attempt.accept();
      expect(failed).toMatchObject({ success: false, conflicts: [{ path: '/pkg', code: 'not-empty' }] });
      expect(failed.message).toContain("in place of '/pkg', which holds entries that an accept leaves alone");
      const { accepted } = await attempt.accept({ onConflict: 'skip' });
      expect(accepted).toEqual(['/other.txt']);
      expect([areOn(disk, ALONE), areOn(disk, TRACKED)]).toEqual([ALL, ALL]);
      expect(await attempt.fileSystem.readText('/pkg')).toBe('a file');
      // When they are gone, the file can be accepted.
      for (const path of ['pkg/node_modules', 'pkg/deep/er/dist/built.js', 'pkg/.env'])
        rmSync(join(disk, path), { recursive: true });
      expect((await attempt.accept()).success).toBe(true);
      expect(readFileSync(join(disk, 'pkg'), 'utf8')).toBe('a file');
    });
  });

  it('stay when the directory is made anew, or another one takes its place', async () => {
    await withAttempt(async (attempt, disk) => {
      await attempt.fileSystem.rm('/pkg', { recursive: true });
      await attempt.fileSystem.mkdir('/pkg');
      await attempt.fileSystem.writeFile('/pkg/new.txt', 'new');
      expect((await attempt.accept()).success).toBe(true);
      expect([areOn(disk, ALONE), areOn(disk, TRACKED), areOn(disk, ['pkg/new.txt'])]).toEqual([ALL, NONE, [true]]);
      await attempt.undo();
      expect([areOn(disk, ALONE), areOn(disk, TRACKED), areOn(disk, ['pkg/new.txt'])]).toEqual([ALL, ALL, [false]]);
    });
  });

  it('are in no patch and in no commit', async () => {
    await withAttempt(async (attempt, disk) => {
      await attempt.fileSystem.rm('/pkg', { recursive: true });
      const { patch, accepted } = await attempt.accept({ as: 'patch' });
      expect(accepted).toEqual(TRACKED.map((path) => `/${path}`));
      expect(Buffer.from(patch as Uint8Array).toString()).not.toMatch(/node_modules|built|alone/);
      directories.gitWith(disk, ['apply', '--check'], patch);
      const branch = await attempt.accept({ as: 'branch', branch: 'topic' });
      expect(branch.accepted.filter((path) => /node_modules|built|env/.test(path))).toEqual([]);
      expect(directories.git(disk, 'ls-tree', '-r', '--name-only', 'topic')).toBe('.gitignore\n');
      expect([areOn(disk, ALONE), areOn(disk, TRACKED)]).toEqual([ALL, ALL]);
    });
  });
});

it('a submodule stays, and the message says so', async () => {
  const [disk, other] = [directories.repository({ a: 'a' }), directories.repository({ b: 'b' })];
  directories.git(disk, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', other, 'sub');
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  const attempt = await workspace.attempt();
  await attempt.fileSystem.rm('/sub', { recursive: true });
  expect(await attempt.accept()).toMatchObject({
    success: false,
    message: expect.stringMatching(/'\/sub': .* repositories where they are/),
    conflicts: [{ path: '/sub', code: 'refused' }],
  });
  expect(existsSync(join(disk, 'sub/b'))).toBe(true);
});
