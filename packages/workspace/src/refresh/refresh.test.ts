import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { createFileSystem } from 'scratchfs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { openWorkspace } from '../workspace.js';
import type { Workspace } from '../workspace-types.js';

let directory: string;
let workspace: Workspace;
let attempt: Attempt;

beforeEach(async () => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'refresh-')));
  put('a.txt', 'one\ntwo\nthree\nfour\nfive\n');
  workspace = await openWorkspace(directory, { store: 'memory:' });
  attempt = await workspace.attempt();
});
afterEach(async () => {
  await workspace.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Writes as a person does, at some time before now. */
function put(path: string, text: string, secondsAgo = 10): void {
  const full = join(directory, path);
  writeFileSync(full, text);
  const time = Date.now() / 1000 - secondsAgo;
  utimesSync(full, time, time);
}

const edit = (path: string, from: string, to: string): Promise<number> => attempt.fileSystem.editFile(path, from, to);
const text = (path: string): Promise<string> => attempt.fileSystem.readText(path);

describe('refresh', () => {
  it('merges by lines what both sides changed, and says so', async () => {
    await edit('/a.txt', 'one', '1');
    put('a.txt', 'one\ntwo\nthree\nfour\n5\n');
    expect(await text('/a.txt')).toBe('1\ntwo\nthree\nfour\nfive\n');
    expect(await attempt.refresh()).toEqual({ merged: ['/a.txt'], conflicts: [] });
    expect(await text('/a.txt')).toBe('1\ntwo\nthree\nfour\n5\n');
    expect(await attempt.refresh()).toEqual({ merged: [], conflicts: [] });
    expect((await attempt.log()).operations[0]).toMatchObject({ tool: 'refresh' });
  });

  it('happens before an operation for what it touches, which then works on the merged content', async () => {
    await edit('/a.txt', 'one', '1');
    put('a.txt', 'one\ntwo\nthree\nfour\n5\n');
    const { refreshed, operation } = await attempt.operation({ tool: 'edit' }, (fs) =>
      fs.editFile('/a.txt', 'three', '3'),
    );
    expect(refreshed).toEqual({ merged: ['/a.txt'], conflicts: [] });
    expect(operation?.changes.map(({ path }) => path)).toEqual(['/a.txt']);
    expect(await text('/a.txt')).toBe('1\ntwo\n3\nfour\n5\n');
  });

  it("keeps the person's edits through undo", async () => {
    await edit('/a.txt', 'one', '1');
    put('a.txt', 'one\ntwo\nthree\nfour\n5\n');
    await edit('/a.txt', 'three', '3');
    await attempt.undo();
    expect(await text('/a.txt')).toBe('1\ntwo\nthree\nfour\n5\n');
    await attempt.undo();
    expect(await text('/a.txt')).toBe('one\ntwo\nthree\nfour\n5\n');
    await attempt.redo();
    await attempt.redo();
    expect(await text('/a.txt')).toBe('1\ntwo\n3\nfour\n5\n');
  });

  it('reports a conflict as a value, keeps both versions, and reports it again', async () => {
    await edit('/a.txt', 'one', 'mine');
    put('a.txt', 'theirs\ntwo\nthree\nfour\nfive\n');
    const conflict = {
      path: '/a.txt',
      code: 'content',
      base: { kind: 'file', size: 24 },
      disk: { kind: 'file', size: 27 },
      attempt: { kind: 'file', size: 25 },
    };
    expect(await attempt.refresh()).toMatchObject({ merged: [], conflicts: [conflict] });
    const head = await attempt.head();
    await attempt.fileSystem.appendFile('/a.txt', 'six\n');
    expect((await attempt.refresh()).conflicts).toMatchObject([{ path: '/a.txt', code: 'content' }]);
    expect(await attempt.head()).toBe(head + 1);
    expect(await text('/a.txt')).toBe('mine\ntwo\nthree\nfour\nfive\nsix\n');
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toContain('theirs');
    // The person takes over what the attempt has: nothing is in conflict any more.
    put('a.txt', 'mine\ntwo\nthree\nfour\nfive\nsix\n');
    expect(await attempt.refresh()).toEqual({ merged: ['/a.txt'], conflicts: [] });
    expect((await attempt.diff()).paths).toEqual([]);
  });

  it('keeps a change that the disk has too, so that it shows again if the disk goes back', async () => {
    const back = 'one\ntwo\nthree\nfour\nfive\n';
    await edit('/a.txt', 'one', '1');
    put('a.txt', back.replace('one', '1'));
    expect(await attempt.refresh()).toEqual({ merged: ['/a.txt'], conflicts: [] });
    expect((await attempt.diff()).paths).toEqual([]);
    expect((await workspace.attempts())[0]?.changedPaths).toBe(0);
    put('a.txt', back);
    expect(await text('/a.txt')).toBe(back.replace('one', '1'));
    expect((await attempt.diff()).paths).toMatchObject([{ path: '/a.txt', type: 'changed' }]);
    expect(await attempt.refresh()).toEqual({ merged: [], conflicts: [] });
    expect((await attempt.accept()).accepted).toEqual(['/a.txt']);
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe(back.replace('one', '1'));
  });

  it('goes on with the person from a change that the disk had too', async () => {
    await edit('/a.txt', 'one', '1');
    await attempt.fileSystem.writeFile('/new.txt', 'n\n');
    await attempt.fileSystem.writeFile('/gone.txt', 'n\n');
    for (const name of ['new.txt', 'gone.txt']) put(name, 'n\n');
    put('a.txt', '1\ntwo\nthree\nfour\nfive\n');
    await attempt.refresh();
    put('a.txt', '1 and more\ntwo\nthree\nfour\nfive\n');
    put('new.txt', 'n\nm\n');
    rmSync(join(directory, 'gone.txt'));
    expect((await attempt.refresh()).conflicts).toEqual([]);
    expect(await text('/a.txt')).toBe('1 and more\ntwo\nthree\nfour\nfive\n');
    expect(await text('/new.txt')).toBe('n\nm\n');
    // The disk went back to what it was before the attempt created the file.
    expect((await attempt.diff()).paths.map(({ path }) => path)).toEqual(['/gone.txt']);
    // An edit of the attempt begins from what both had.
    await edit('/a.txt', '1 and more', '2');
    expect((await attempt.accept()).conflicts).toEqual([]);
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('2\ntwo\nthree\nfour\nfive\n');
  });

  it.each<[string, (fs: FileSystem) => Promise<unknown>, string]>([
    ['has only linked', (fs) => fs.link('/a.txt', '/b.txt'), 'one'],
    ['has changed and changed back', (fs) => fs.chmod('/a.txt', 0o600).then(() => fs.chmod('/a.txt', 0o644)), 'one'],
    ['has changed as well', (fs) => fs.editFile('/a.txt', 'one', '1'), '1'],
  ])('shows lines that the person removes and puts back in a file that it %s', async (_, change, first) => {
    chmodSync(join(directory, 'a.txt'), 0o644);
    await change(attempt.fileSystem);
    put('a.txt', `${first}\ntwo\nthree\n`);
    expect((await attempt.refresh()).merged).toContain('/a.txt');
    const back = '\ntwo\nthree\nfour\nfive\n';
    put('a.txt', `one${back}`);
    expect((await attempt.refresh()).conflicts).toEqual([]);
    expect(await text('/a.txt')).toBe(first + back);
    expect((await attempt.accept()).success).toBe(true);
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe(first + back);
  });

  it('shows lines that the person removes from a file with two names and puts back, if one name is gone', async () => {
    const lines = readFileSync(join(directory, 'a.txt'), 'utf8');
    linkSync(join(directory, 'a.txt'), join(directory, 'b.txt'));
    chmodSync(join(directory, 'a.txt'), 0o644);
    await attempt.fileSystem.chmod('/a.txt', 0o600);
    await attempt.fileSystem.chmod('/b.txt', 0o644);
    put('a.txt', 'one\n');
    await attempt.refresh();
    rmSync(join(directory, 'a.txt'));
    put('b.txt', lines);
    await attempt.refresh();
    expect(await text('/b.txt')).toBe(lines);
  });

  it.each([
    ['an edit', (fs: FileSystem) => fs.writeFile('/a.txt', 'mine\n'), '/a.txt: mine\n'],
    ['a new file', (fs: FileSystem) => fs.writeFile('/n', 'mine\n'), '/a.txt: one, /n: mine\n'],
    ['a removal', (fs: FileSystem) => fs.rm('/a.txt'), ''],
    ['a move', (fs: FileSystem) => fs.rename('/a.txt', '/b.txt'), '/b.txt: one'],
  ])('keeps %s of a fork, whose attempt accepts it and takes that back', async (_, change, expected) => {
    const shown = async ({ fileSystem }: Attempt): Promise<string> => {
      const names = await fileSystem.readdir('/');
      const texts = names.map(
        async (name) => `/${name}: ${(await fileSystem.readText(`/${name}`)).replace(/\ntwo.*/s, '')}`,
      );
      return (await Promise.all(texts)).join(', ');
    };
    await change(attempt.fileSystem);
    const fork = await attempt.fork('f');
    await attempt.accept();
    expect((await fork.refresh()).conflicts).toEqual([]);
    expect((await fork.diff()).paths).toEqual([]);
    await attempt.undo();
    expect((await fork.refresh()).conflicts).toEqual([]);
    expect(await shown(fork)).toBe(expected);
    expect((await fork.accept()).success).toBe(true);
    expect(await shown(fork)).toBe(expected);
    expect((await fork.diff()).paths).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>, () => void, string]>([
    ['an edit against a removal', () => edit('/a.txt', 'one', '1'), () => rmSync(join(directory, 'a.txt')), 'removed'],
    ['a removal against an edit', () => attempt.fileSystem.rm('/a.txt'), () => put('a.txt', 'x'), 'removed'],
    ['two new files', () => attempt.fileSystem.writeFile('/n', 'x'), () => put('n', 'y'), 'exists'],
    ['binary contents', () => attempt.fileSystem.writeFile('/a.txt', 'x\0'), () => put('a.txt', 'y\0'), 'binary'],
    [
      'another kind',
      () => edit('/a.txt', 'one', '1'),
      () => {
        rmSync(join(directory, 'a.txt'));
        mkdirSync(join(directory, 'a.txt'));
      },
      'kind',
    ],
    [
      'two modes',
      () => attempt.fileSystem.chmod('/a.txt', 0o755),
      () => chmodSync(join(directory, 'a.txt'), 0o600),
      'mode',
    ],
  ])('reports %s', async (_, mine, theirs, code) => {
    await mine();
    theirs();
    const { conflicts } = await attempt.refresh();
    expect(conflicts).toMatchObject([{ code }]);
    expect((await attempt.refresh()).conflicts).toEqual(conflicts);
  });

  it('merges a mode and a content, and two directories that both sides created', async () => {
    await attempt.fileSystem.chmod('/a.txt', 0o755);
    await attempt.fileSystem.mkdir('/d');
    await attempt.fileSystem.writeFile('/d/mine', '1');
    put('a.txt', 'more\n');
    mkdirSync(join(directory, 'd'));
    put('d/theirs', '2');
    expect((await attempt.refresh()).conflicts).toEqual([]);
    expect(await text('/a.txt')).toBe('more\n');
    expect((await attempt.fileSystem.stat('/a.txt')).mode & 0o777).toBe(0o755);
    expect(await attempt.fileSystem.readdir('/d')).toEqual(['mine', 'theirs']);
  });

  it('compares a file that was modified just before it was looked at by content', async () => {
    const file = join(directory, 'fresh');
    writeFileSync(file, 'aa\nb\nc\n');
    const { atime, mtime } = statSync(file);
    await edit('/fresh', 'c', 'C');
    writeFileSync(file, 'bb\nb\nc\n');
    utimesSync(file, atime, mtime);
    expect((await attempt.refresh()).merged).toEqual(['/fresh']);
    expect(await text('/fresh')).toBe('bb\nb\nC\n');
  });

  it('follows a moved file, and takes what the person did at its old path along', async () => {
    await attempt.fileSystem.rename('/a.txt', '/b.txt');
    await edit('/b.txt', 'one', '1');
    put('a.txt', 'one\ntwo\nthree\nfour\n5\n');
    expect(await attempt.refresh()).toEqual({ merged: ['/b.txt'], conflicts: [] });
    expect(await text('/b.txt')).toBe('1\ntwo\nthree\nfour\n5\n');
    expect(await attempt.fileSystem.exists('/a.txt')).toBe(false);
  });

  it('keeps an edit at the old path of a moved file through a new file there', async () => {
    await attempt.fileSystem.rename('/a.txt', '/b.txt');
    put('a.txt', 'one\ntwo\nthree\nfour\n5\n');
    await attempt.fileSystem.writeFile('/a.txt', 'new\n');
    expect((await attempt.accept()).success).toBe(true);
    expect(readFileSync(join(directory, 'b.txt'), 'utf8')).toBe('one\ntwo\nthree\nfour\n5\n');
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('new\n');
  });

  it('reports an edit at the old path that neither the moved file nor a new one there can take over', async () => {
    await attempt.fileSystem.rename('/a.txt', '/b.txt');
    await attempt.fileSystem.writeFile('/b.txt', 'mine\n');
    put('a.txt', 'theirs\ntwo\nthree\nfour\nfive\n');
    await attempt.fileSystem.writeFile('/a.txt', 'new\n');
    expect((await attempt.refresh()).conflicts.map(({ path }) => path)).toEqual(['/a.txt', '/b.txt']);
    expect((await attempt.accept()).success).toBe(false);
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toContain('theirs');
  });

  it('reports a moved directory whose source is another one, and never shows it empty', async () => {
    mkdirSync(join(directory, 'd'));
    put('d/x', 'x');
    await attempt.fileSystem.rename('/d', '/e');
    put('d/y', 'y');
    expect(await attempt.fileSystem.readdir('/e')).toEqual(['x', 'y']);
    expect((await attempt.refresh()).conflicts).toEqual([]);
    renameSync(join(directory, 'd'), join(directory, 'away'));
    mkdirSync(join(directory, 'd'));
    expect((await attempt.refresh()).conflicts).toMatchObject([{ path: '/e', code: 'directory' }]);
    await expect(attempt.fileSystem.readdir('/e')).rejects.toMatchObject({ code: 'EBUSY' });
    await attempt.undo();
    expect(await attempt.fileSystem.readdir('/')).toEqual(['a.txt', 'away', 'd']);
  });

  it('names a moved directory whose source is gone when a walk meets it', async () => {
    mkdirSync(join(directory, 'd'));
    put('d/x', 'x');
    await attempt.fileSystem.mkdir('/p');
    await attempt.fileSystem.rename('/d', '/p/e');
    rmSync(join(directory, 'd'), { recursive: true });
    const walk = async (): Promise<void> => {
      for await (const _ of attempt.fileSystem.walk('/'));
    };
    await expect(walk()).rejects.toMatchObject({ code: 'EBUSY', path: '/p/e' });
  });

  it('runs a transaction again if a disk path that it read has changed', async () => {
    const store = createFileSystem();
    await using other = await openWorkspace(directory, { store });
    const mine = await other.attempt();
    let runs = 0;
    const { value } = await mine.operation({}, async (fs) => {
      const seen = await fs.readText('/a.txt');
      runs += 1;
      if (runs === 1) put('a.txt', 'changed\n');
      await fs.writeFile('/copy', seen);
      return seen;
    });
    expect([runs, value]).toEqual([2, 'changed\n']);
    expect(await mine.fileSystem.readText('/copy')).toBe('changed\n');
  });

  it('shows an edit of a file with several names under each of them', async () => {
    linkSync(join(directory, 'a.txt'), join(directory, 'b.txt'));
    await edit('/a.txt', 'one', '1');
    expect(await text('/b.txt')).toBe('1\ntwo\nthree\nfour\nfive\n');
    await edit('/b.txt', 'two', '2');
    expect(await text('/a.txt')).toBe('1\n2\nthree\nfour\nfive\n');
    await attempt.undo();
    await attempt.undo();
    expect(await text('/b.txt')).toBe('one\ntwo\nthree\nfour\nfive\n');
  });

  it('sees links and directories as the disk has them', async () => {
    symlinkSync('a.txt', join(directory, 'link'));
    expect(await text('/link')).toContain('one');
    await attempt.fileSystem.writeFile('/link', 'through');
    expect(await text('/a.txt')).toBe('through');
    expect(await attempt.fileSystem.readlink('/link')).toBe('a.txt');
  });
});
