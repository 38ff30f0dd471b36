import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { Directories, fill } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

const FILES = { 'src/a.js': 'a\n', 'src/b.js': 'b\n', 'src/deep/c.js': 'c\n', 'README.md': 'r\n' };

async function withAttempt(work: (attempt: Attempt, disk: string) => Promise<void>): Promise<void> {
  const disk = directories.repository(FILES);
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  await work(await workspace.attempt(), disk);
}

/** Writes all of `src` anew, as `git checkout` does: the same contents in other files and directories. */
function checkOut(disk: string): void {
  rmSync(join(disk, 'src'), { recursive: true });
  directories.git(disk, 'checkout', '--', 'src');
}

const edit = (attempt: Attempt): Promise<void> => attempt.fileSystem.writeFile('/src/a.js', 'A\n');
const remove = (attempt: Attempt): Promise<void> => attempt.fileSystem.rm('/src', { recursive: true });
const on = (disk: string, path: string): string => readFileSync(join(disk, path), 'utf8');
/** Gives a file times long before the removal, as archives and synchronizers do. */
const age = (disk: string, path: string): void => utimesSync(join(disk, path), 1_000, 1_000);

describe('a removed directory whose files were written anew', () => {
  it.each<[string, (attempt: Attempt, disk: string) => Promise<void>]>([
    [
      'between an edit in it and its removal',
      async (attempt, disk) => {
        await edit(attempt);
        checkOut(disk);
        await remove(attempt);
      },
    ],
    [
      'after its removal',
      async (attempt, disk) => {
        await remove(attempt);
        checkOut(disk);
      },
    ],
    [
      'after its removal, which follows an edit in it',
      async (attempt, disk) => {
        await edit(attempt);
        await remove(attempt);
        checkOut(disk);
        await attempt.refresh();
      },
    ],
    [
      'by the undo of an accept, before it is removed again',
      async (attempt) => {
        await edit(attempt);
        await remove(attempt);
        await attempt.accept();
        await attempt.undo();
        await attempt.undo();
        await remove(attempt);
      },
    ],
  ])('is removed by an accept: %s', async (_, act) => {
    await withAttempt(async (attempt, disk) => {
      await act(attempt, disk);
      const { patch } = await attempt.accept({ as: 'patch' });
      expect(
        Buffer.from(patch ?? [])
          .toString()
          .match(/^deleted file/gmu),
      ).toHaveLength(3);
      expect(await attempt.conflicts()).toEqual([]);
      const { accepted, message } = await attempt.accept();
      expect([accepted.includes('/src'), message.includes('stay')]).toEqual([true, false]);
      expect([existsSync(join(disk, 'src')), existsSync(join(disk, 'README.md'))]).toEqual([false, true]);
      await attempt.undo();
      expect([on(disk, 'src/a.js'), on(disk, 'src/deep/c.js')]).toEqual(['a\n', 'c\n']);
    });
  });

  it('keeps what the person has put into the new directory, after a refresh too', async () => {
    await withAttempt(async (attempt, disk) => {
      await remove(attempt);
      rmSync(join(disk, 'src'), { recursive: true });
      fill(disk, { 'src/mine.js': 'mine\n' });
      age(disk, 'src/mine.js');
      await attempt.refresh();
      const { accepted, message, success } = await attempt.accept();
      expect([success, accepted]).toEqual([true, []]);
      expect(message).toBe(
        "Nothing was accepted. Not empty, so they stay: '/src'. Ignored directories, hidden files, and what else was put there on the disk are left alone.",
      );
      expect(on(disk, 'src/mine.js')).toBe('mine\n');
    });
  });
});

describe('a file in a removed directory that the person has edited', () => {
  const conflicts = [{ path: '/src/deep/c.js', code: 'removed' }];

  it('is a conflict, which skipping keeps', async () => {
    await withAttempt(async (attempt, disk) => {
      await remove(attempt);
      fill(disk, { 'src/deep/c.js': 'C\n' });
      expect(await attempt.refresh()).toMatchObject({ conflicts });
      expect(await attempt.conflicts()).toMatchObject(conflicts);
      expect(await attempt.accept()).toMatchObject({ success: false, accepted: [], conflicts });
      const patch = await attempt.accept({ as: 'patch' });
      expect(patch).toMatchObject({ accepted: ['/src/a.js', '/src/b.js'], conflicts });
      const skipped = await attempt.accept({ onConflict: 'skip' });
      expect(skipped).toMatchObject({ success: true, accepted: ['/src/a.js', '/src/b.js'], conflicts });
      expect([existsSync(join(disk, 'src/a.js')), on(disk, 'src/deep/c.js')]).toEqual([false, 'C\n']);
      // The removal of the file is still a change of the attempt.
      expect(await attempt.fileSystem.exists('/src/deep/c.js')).toBe(false);
      expect(await attempt.refresh()).toMatchObject({ conflicts });
      await attempt.resolve('/src/deep/c.js');
      expect((await attempt.accept()).success).toBe(true);
      expect(existsSync(join(disk, 'src/deep/c.js'))).toBe(false);
    });
  });

  it('is a conflict by its mode alone, and if it has become a directory', async () => {
    await withAttempt(async (attempt, disk) => {
      await remove(attempt);
      chmodSync(join(disk, 'src/a.js'), 0o755);
      rmSync(join(disk, 'src/b.js'));
      mkdirSync(join(disk, 'src/b.js'));
      const { conflicts } = await attempt.accept();
      expect(conflicts.map(({ path }) => path)).toEqual(['/src/a.js', '/src/b.js']);
    });
  });
});

describe('an accept of a part of a removed directory', () => {
  it('keeps what the person has put into the rest', async () => {
    await withAttempt(async (attempt, disk) => {
      await remove(attempt);
      fill(disk, { 'src/deep/mine.js': 'mine\n' });
      age(disk, 'src/deep/mine.js');
      await attempt.accept({ paths: ['/src/a.js'] });
      await attempt.accept();
      expect([existsSync(join(disk, 'src/deep/c.js')), on(disk, 'src/deep/mine.js')]).toEqual([false, 'mine\n']);
    });
  });
});

describe('an accept as a branch', () => {
  it('says of a new branch what it would begin with, if there is nothing to commit', async () => {
    await withAttempt(async (attempt) => {
      await attempt.fileSystem.mkdir('/empty');
      const { message } = await attempt.accept({ as: 'branch', branch: 'zz' });
      expect(message).toBe("Nothing to commit: git does not record directories, so no branch 'zz' was created.");
    });
  });
});

describe('a file that the person has edited in a directory that the attempt has removed and made anew', () => {
  it.each<[string, (attempt: Attempt) => Promise<unknown>]>([
    ['has no change', async () => undefined],
    ['is a file of the attempt', (attempt) => attempt.fileSystem.writeFile('/src/a.js', 'agent\n')],
    ['is a directory of the attempt', (attempt) => attempt.fileSystem.mkdir('/src/a.js')],
  ])('is not replaced before the conflict is resolved, if the name %s', async (_, act) => {
    await withAttempt(async (attempt, disk) => {
      await remove(attempt);
      await attempt.fileSystem.mkdir('/src');
      await act(attempt);
      fill(disk, { 'src/a.js': 'person\n' });
      const kind = (await attempt.fileSystem.stat('/src/a.js').catch(() => undefined))?.kind;
      const conflicts = [{ path: '/src/a.js', attempt: kind === undefined ? null : { kind } }];
      expect(await attempt.accept()).toMatchObject({ success: false, conflicts });
      expect((await attempt.refresh()).conflicts).toMatchObject(conflicts);
      expect(await attempt.conflicts()).toMatchObject(conflicts);
      expect((await attempt.accept({ onConflict: 'skip' })).accepted).toContain('/src/b.js');
      expect(on(disk, 'src/a.js')).toBe('person\n');
      await attempt.refresh();
      await attempt.resolve('/src/a.js');
      const shown = await attempt.fileSystem.readText('/src/a.js').catch((error) => error.code);
      expect((await attempt.accept()).success).toBe(true);
      const left = existsSync(join(disk, 'src/a.js')) ? statSync(join(disk, 'src/a.js')) : undefined;
      expect(left?.isFile() === true ? on(disk, 'src/a.js') : left ? 'EISDIR' : 'ENOENT').toBe(shown);
    });
  });
});

describe('a file that was too large to be read at the removal of its directory, edited by the person since', () => {
  it.each<[string, string, (attempt: Attempt) => Promise<unknown>]>([
    ['removed', 'removed', async () => undefined],
    ['replaced', 'binary', (attempt) => attempt.fileSystem.writeFile('/d/large', 'agent\n')],
  ])('stays a conflict until it is resolved: %s', async (_, code, act) => {
    const disk = directories.directory({ 'd/large': new Uint8Array((16 << 20) + 1) });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rm('/d', { recursive: true });
    await attempt.fileSystem.writeFile('/other', 'other');
    writeFileSync(join(disk, 'd/large'), 'person\n');
    expect((await attempt.accept({ onConflict: 'skip' })).accepted).toEqual(['/other']);
    await act(attempt);
    const accepted = await attempt.accept();
    expect([accepted.success, accepted.conflicts.map((one) => one.code)]).toEqual([false, [code]]);
    expect((await attempt.refresh()).conflicts).toEqual(accepted.conflicts);
    expect((await attempt.diff({ from: 0, hunks: true })).paths.map(({ path }) => path)).toContain('/d/large');
    const patched = await attempt.accept({ as: 'patch' });
    expect(patched.conflicts).toHaveLength(code === 'removed' ? 1 : 0);
    expect(on(disk, 'd/large')).toBe('person\n');
    await attempt.resolve('/d/large');
    expect((await attempt.accept()).success).toBe(true);
    expect(existsSync(join(disk, 'd/large'))).toBe(code !== 'removed');
  });
});
