import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { AcceptOptions, Attempt } from '../attempt-types.js';
import { Directories, type Entry, fill } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

const lines = (count: number, change: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: count }, (_, i) => `${change[i + 1] ?? `line ${i + 1}`}\n`).join('');

const FILES: Readonly<Record<string, Entry>> = { 'a.txt': lines(30), 'b/c.txt': 'c\n', 'b/d.txt': 'd\n' };

const read = (directory: string, path: string): string => readFileSync(join(directory, path), 'utf8');

/** Runs work on an attempt over a directory. */
async function withAttempt(disk: string, work: (attempt: Attempt) => Promise<void>): Promise<void> {
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  await work(await workspace.attempt());
}

const pathsOf = async (attempt: Attempt): Promise<string[]> => (await attempt.diff()).paths.map(({ path }) => path);

describe('attempt.accept()', () => {
  it.each(['/moved.txt', '/b/c.txt'])('takes the hunks that diff() shows of a file moved to %s', async (to) => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      const fs = attempt.fileSystem;
      await fs.rename('/a.txt', to);
      await fs.writeFile(to, lines(30, { 2: 'first', 29: 'second' }));
      const { paths } = await attempt.diff({ hunks: true });
      expect(paths).toMatchObject([{ path: to, type: 'moved', from: '/a.txt', additions: 2, deletions: 2 }]);
      const [first] = paths[0]?.hunks ?? [];
      await attempt.accept({ hunks: [first?.id as string] });
      expect([read(disk, to), existsSync(join(disk, 'a.txt'))]).toEqual([lines(30, { 2: 'first' }), false]);
      expect(await fs.readText(to)).toBe(lines(30, { 2: 'first', 29: 'second' }));
      expect((await attempt.diff({ hunks: true })).paths).toMatchObject([{ path: to, additions: 1 }]);
    });
  });

  it('puts a file that was moved over another one where the person has removed that', async () => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      await attempt.fileSystem.rename('/a.txt', '/b/c.txt');
      rmSync(join(disk, 'b/c.txt'));
      expect((await attempt.refresh()).conflicts).toEqual([]);
      expect(await attempt.accept()).toMatchObject({ success: true, accepted: ['/a.txt', '/b/c.txt'] });
      expect([read(disk, 'b/c.txt'), existsSync(join(disk, 'a.txt'))]).toEqual([lines(30), false]);
    });
  });

  it('writes changes to the disk, after which the attempt has none, and undo takes both back', async () => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      const fs = attempt.fileSystem;
      await fs.writeFile('/a.txt', 'agent\n');
      await fs.mkdir('/new/deep', { recursive: true });
      await fs.writeFile('/new/deep/f.txt', 'f');
      await fs.rm('/b', { recursive: true });
      expect(read(disk, 'a.txt')).toBe(lines(30));
      const result = await attempt.accept({ actor: 'ada' });
      expect(result).toMatchObject({
        success: true,
        accepted: ['/a.txt', '/b', '/b/c.txt', '/b/d.txt', '/new', '/new/deep', '/new/deep/f.txt'],
        operation: { tool: 'accept', actor: 'ada' },
      });
      expect([read(disk, 'a.txt'), read(disk, 'new/deep/f.txt'), existsSync(join(disk, 'b'))]).toEqual([
        'agent\n',
        'f',
        false,
      ]);
      expect(await pathsOf(attempt)).toEqual([]);
      // The person's edits show now.
      fill(disk, { 'a.txt': 'person\n' });
      expect(await fs.readText('/a.txt')).toBe('person\n');
      await expect(attempt.undo()).rejects.toThrow("no longer hold what the accept left there: '/a.txt'.");
      fill(disk, { 'a.txt': 'agent\n' });
      await attempt.undo();
      expect([read(disk, 'a.txt'), read(disk, 'b/c.txt'), existsSync(join(disk, 'new'))]).toEqual([
        lines(30),
        'c\n',
        false,
      ]);
      expect(await fs.readText('/a.txt')).toBe('agent\n');
      expect((await pathsOf(attempt)).sort()).toEqual([
        '/a.txt',
        '/b',
        '/b/c.txt',
        '/b/d.txt',
        '/new',
        '/new/deep',
        '/new/deep/f.txt',
      ]);
      await attempt.redo();
      expect([read(disk, 'a.txt'), existsSync(join(disk, 'b'))]).toEqual(['agent\n', false]);
      expect(await pathsOf(attempt)).toEqual([]);
    });
  });

  it('takes two of three hunks into a file that the person has edited', async () => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', lines(30, { 3: 'three', 15: 'fifteen', 28: 'last' }));
      const [diff] = (await attempt.diff({ hunks: true })).paths;
      const ids = diff?.hunks.map(({ id }) => id) as string[];
      expect(ids.length).toBe(3);
      fill(disk, { 'a.txt': lines(30, { 9: 'person' }) });
      await attempt.accept({ hunks: [ids[0] as string, ids[2] as string] });
      expect(read(disk, 'a.txt')).toBe(lines(30, { 3: 'three', 9: 'person', 28: 'last' }));
      const open = lines(30, { 3: 'three', 9: 'person', 15: 'fifteen', 28: 'last' });
      expect(await attempt.fileSystem.readText('/a.txt')).toBe(open);
      const [rest] = (await attempt.diff({ hunks: true })).paths;
      expect(rest).toMatchObject({ path: '/a.txt', additions: 1, deletions: 1 });
      await attempt.accept();
      expect(read(disk, 'a.txt')).toBe(open);
      await attempt.undo();
      await attempt.undo();
      expect(read(disk, 'a.txt')).toBe(lines(30, { 9: 'person' }));
    });
  });

  it.each([
    ['edits', (disk: string) => fill(disk, { 'a.txt': lines(30, { 3: 'person' }) }), 'content'],
    ['removes', (disk: string) => rmSync(join(disk, 'a.txt')), 'removed'],
  ] as const)('reports the conflict for a hunk of a file that the person %s', async (_, edit, code) => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', lines(30, { 3: 'three', 28: 'last' }));
      edit(disk);
      expect((await attempt.refresh()).conflicts).toMatchObject([{ path: '/a.txt', code }]);
      const id = (await attempt.diff({ hunks: true })).paths[0]?.hunks[0]?.id as string;
      expect(await attempt.accept({ hunks: [id] })).toMatchObject({ success: false, conflicts: [{ code }] });
      const rest = await attempt.accept({ hunks: [id], onConflict: 'skip' });
      expect(rest).toMatchObject({ success: true, accepted: [], conflicts: [{ path: '/a.txt', code }] });
      const patch = await attempt.accept({ hunks: [id], as: 'patch' });
      expect(patch).toMatchObject({ patch: { length: 0 }, conflicts: [{ code }] });
    });
  });

  it('takes the hunk of a changed file in a moved directory, which diff() shows as new', async () => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      await attempt.fileSystem.rename('/b', '/n');
      await attempt.fileSystem.writeFile('/n/c.txt', 'agent\n');
      const { paths } = await attempt.diff({ hunks: true });
      const hunk = paths.find(({ path }) => path === '/n/c.txt')?.hunks[0];
      expect(hunk?.lines).toEqual(['+agent']);
      const { accepted } = await attempt.accept({ hunks: [hunk?.id as string] });
      expect(accepted).toEqual(['/b/c.txt', '/n', '/n/c.txt']);
      expect([read(disk, 'n/c.txt'), existsSync(join(disk, 'b/c.txt')), read(disk, 'b/d.txt')]).toEqual([
        'agent\n',
        false,
        'd\n',
      ]);
    });
  });

  it('asks for a refresh before it takes hunks that were compared with what the person has edited', async () => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', lines(30, { 3: 'three' }));
      fill(disk, { 'a.txt': lines(30, { 28: 'person' }) });
      const ids = async (): Promise<string[]> =>
        (await attempt.diff({ hunks: true })).paths.flatMap(({ hunks }) => hunks.map(({ id }) => id));
      const stale = await ids();
      expect(stale.length).toBe(2);
      const refused = attempt.accept({ hunks: stale.slice(0, 1) });
      await expect(refused).rejects.toMatchObject({ code: 'moved', message: expect.stringMatching(/Call refresh/) });
      await attempt.refresh();
      expect(await attempt.accept({ hunks: await ids() })).toMatchObject({ accepted: ['/a.txt'] });
      expect(read(disk, 'a.txt')).toBe(lines(30, { 3: 'three', 28: 'person' }));
    });
  });

  it('accepts a moved directory in parts and whole', async () => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      const fs = attempt.fileSystem;
      await fs.rename('/b', '/moved');
      await fs.writeFile('/moved/e.txt', 'e');
      expect((await attempt.accept({ paths: ['/moved/c.txt'] })).accepted).toEqual([
        '/b/c.txt',
        '/moved',
        '/moved/c.txt',
      ]);
      expect([read(disk, 'moved/c.txt'), read(disk, 'b/d.txt')]).toEqual(['c\n', 'd\n']);
      expect((await fs.readdir('/moved')).sort()).toEqual(['c.txt', 'd.txt', 'e.txt']);
      expect(await fs.readText('/moved/d.txt')).toBe('d\n');
      expect(await fs.exists('/b')).toBe(false);
      await attempt.accept();
      expect([read(disk, 'moved/d.txt'), read(disk, 'moved/e.txt'), existsSync(join(disk, 'b'))]).toEqual([
        'd\n',
        'e',
        false,
      ]);
      expect(await pathsOf(attempt)).toEqual([]);
      for (let count = 0; count < 2; count++) {
        await attempt.undo();
        await attempt.undo();
        expect([read(disk, 'b/c.txt'), existsSync(join(disk, 'moved'))]).toEqual(['c\n', false]);
        // The undo makes removed files anew on the disk, and they still show at their new path.
        expect((await fs.readdir('/moved')).sort()).toEqual(['c.txt', 'd.txt', 'e.txt']);
        expect(await fs.readText('/moved/c.txt')).toBe('c\n');
        expect((await attempt.refresh()).conflicts).toEqual([]);
        if (count === 0) for (const _ of [1, 2]) await attempt.redo();
      }
      await attempt.accept();
      expect([read(disk, 'moved/d.txt'), existsSync(join(disk, 'b'))]).toEqual(['d\n', false]);
    });
  });

  it('leaves what the person added to a removed directory, and removes the rest', async () => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      await attempt.fileSystem.rm('/b', { recursive: true });
      await new Promise((resolve) => setTimeout(resolve, 20));
      fill(disk, { 'b/added.txt': 'added' });
      const { message } = await attempt.accept();
      expect(message).toContain("Not empty, so they stay: '/b'.");
      expect(existsSync(join(disk, 'b/c.txt'))).toBe(false);
      expect(read(disk, 'b/added.txt')).toBe('added');
      expect(await attempt.fileSystem.readdir('/b')).toEqual(['added.txt']);
    });
  });

  it('returns conflicts, and writes nothing or the rest', async () => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', 'agent\n');
      await attempt.fileSystem.writeFile('/new.txt', 'new');
      fill(disk, { 'a.txt': 'person\n' });
      const refused = await attempt.accept();
      expect(refused).toMatchObject({ success: false, accepted: [], conflicts: [{ path: '/a.txt', code: 'content' }] });
      expect(refused.operation).toBeUndefined();
      expect(existsSync(join(disk, 'new.txt'))).toBe(false);
      const rest = await attempt.accept({ onConflict: 'skip' });
      expect(rest).toMatchObject({ success: true, accepted: ['/new.txt'], conflicts: [{ path: '/a.txt' }] });
      expect(read(disk, 'a.txt')).toBe('person\n');
      expect(await attempt.fileSystem.readText('/a.txt')).toBe('agent\n');
    });
  });

  it('checks what the caller has seen, and its options', async () => {
    const disk = directories.directory(FILES);
    await withAttempt(disk, async (attempt) => {
      await attempt.fileSystem.writeFile('/a.txt', 'one');
      const head = await attempt.head();
      await attempt.fileSystem.writeFile('/a.txt', 'two');
      await expect(attempt.accept({ expect: head })).rejects.toMatchObject({ code: 'moved' });
      const bad: readonly [AcceptOptions, RegExp][] = [
        [{ as: 'push' as never }, /as must be/],
        [{ as: 'merge', hunks: [] }, /hunks can be accepted/],
        [{ branch: 'x' }, /branch is for/],
        [{ paths: '/a.txt' as never }, /paths must be a list/],
        [{ path: '/a.txt' } as never, /path/],
      ];
      for (const [options, message] of bad) await expect(attempt.accept(options)).rejects.toThrow(message);
      expect(await attempt.accept({ dryRun: true })).toMatchObject({
        success: true,
        accepted: ['/a.txt'],
        operation: undefined,
      });
      expect(read(disk, 'a.txt')).toBe(lines(30));
      expect(await attempt.accept({ expect: await attempt.head() })).toMatchObject({ success: true });
      expect(await attempt.accept()).toMatchObject({ success: true, accepted: [], operation: undefined });
    });
  });

  it('returns a patch that git applies', async () => {
    const repository = directories.repository(FILES);
    await withAttempt(repository, async (attempt) => {
      await attempt.fileSystem.rename('/b/c.txt', '/moved.txt');
      await attempt.fileSystem.writeFile('/a.txt', 'agent\n');
      const { patch, accepted, operation } = await attempt.accept({ as: 'patch' });
      expect(accepted).toEqual(['/a.txt', '/b/c.txt', '/moved.txt']);
      expect(operation).toBeUndefined();
      expect(Buffer.from(patch as Uint8Array).toString()).toContain('rename from b/c.txt');
      directories.gitWith(repository, ['apply', '-'], patch);
      expect([read(repository, 'a.txt'), read(repository, 'moved.txt')]).toEqual(['agent\n', 'c\n']);
    });
  });

  it('breaks hard links, and the other names show the disk again', async () => {
    const disk = directories.directory(FILES);
    rmSync(join(disk, 'b'), { recursive: true });
    directories.git(disk, 'init', '-q');
    await withAttempt(disk, async (attempt) => {
      await attempt.fileSystem.link('/a.txt', '/second.txt');
      await attempt.fileSystem.writeFile('/a.txt', 'both\n');
      await attempt.accept();
      expect([read(disk, 'a.txt'), read(disk, 'second.txt')]).toEqual(['both\n', 'both\n']);
      expect(await pathsOf(attempt)).toEqual([]);
    });
  });
});
