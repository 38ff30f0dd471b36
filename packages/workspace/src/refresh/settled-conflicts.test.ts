import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';
import type { Workspace } from '../workspace-types.js';

const directories = new Directories();
let disk: string;
let workspace: Workspace;
let attempt: Attempt;

beforeEach(async () => {
  disk = directories.directory({ a: 'old\n', b: 'old\n' });
  workspace = await openWorkspace(disk, { store: 'memory:' });
  attempt = await workspace.attempt();
  return () => workspace.close();
});
afterAll(() => directories.remove());

const person = (text: string, name = 'a'): void => writeFileSync(join(disk, name), text);
const onDisk = (name = 'a'): string => readFileSync(join(disk, name), 'utf8');
const write = (text: string, path = '/a') => attempt.operation({}, (fs) => fs.writeFile(path, text));
const codes = async (): Promise<string[]> => (await attempt.refresh()).conflicts.map(({ code }) => code);

describe('a conflict', () => {
  it('is settled by a write after it was reported, not by the one that finds it', async () => {
    await write('AGENT\n');
    person('PERSON\n');
    expect((await write('AGENT 2\n')).refreshed.conflicts).toMatchObject([{ path: '/a', code: 'content' }]);
    expect(await attempt.accept()).toMatchObject({ success: false, conflicts: [{ path: '/a' }] });
    const edit = attempt.operation({}, (fs) => fs.editFile('/a', 'AGENT 2', 'PERSON and AGENT'));
    expect((await edit).refreshed.conflicts).toEqual([]);
    expect(await codes()).toEqual([]);
    expect((await attempt.accept()).success).toBe(true);
    expect(onDisk()).toBe('PERSON and AGENT\n');
    await attempt.undo();
    expect(onDisk()).toBe('PERSON\n');
  });

  it('is found by an edit that read the file before, which does not settle it', async () => {
    await write('AGENT\n');
    person('PERSON\n');
    const { refreshed } = await attempt.operation({}, (fs) => fs.editFile('/a', 'AGENT', 'AGENT 2'));
    expect(refreshed.conflicts).toMatchObject([{ path: '/a', code: 'content' }]);
    expect(await codes()).toEqual(['content']);
  });

  it('that was told before a thousand others must be told again', async () => {
    await write('AGENT\n');
    person('PERSON\n');
    const [conflict] = (await attempt.refresh()).conflicts;
    if (conflict === undefined) throw new Error('There is no conflict');
    attempt.markTold(Array.from({ length: 1000 }, (_, i) => ({ ...conflict, path: `/other/${i}` })));
    attempt.markTold([{ ...conflict, path: '/last' }]);
    await write('AGENT 2\n');
    expect(await codes()).toEqual(['content']);
  });

  it('that was told again counts as new', async () => {
    await write('AGENT\n');
    person('PERSON\n');
    const [conflict] = (await attempt.refresh()).conflicts;
    if (conflict === undefined) throw new Error('There is no conflict');
    const others = Array.from({ length: 1_100 }, (_, i) => ({ ...conflict, path: `/other/${i}` }));
    attempt.markTold(others.slice(0, 500));
    attempt.markTold([conflict]);
    attempt.markTold(others.slice(500));
    attempt.markTold([{ ...conflict, path: '/last' }]);
    await write('AGENT 2\n');
    expect(await codes()).toEqual([]);
  });

  it('of a moved directory with a file ends once the person replaces the file by a directory', async () => {
    mkdirSync(join(disk, 'd'));
    person('x\n', 'd/x');
    await attempt.fileSystem.rename('/d', '/e');
    person('PERSON\n', 'e');
    expect(await codes()).toEqual(['exists']);
    rmSync(join(disk, 'e'));
    mkdirSync(join(disk, 'e'));
    expect(await codes()).toEqual([]);
    // No conflict is left to settle. If one were, the directory would then begin from the file.
    await attempt.operation({}, (fs) => fs.chmod('/e', 0o700));
    expect(await codes()).toEqual([]);
    expect(await attempt.fileSystem.readdir('/e')).toEqual(['x']);
  });

  it('gives the file a new version, so that a change of what was read before is refused', async () => {
    await write('AGENT\n');
    const { version } = await attempt.fileSystem.stat('/a');
    person('PERSON\n');
    await attempt.refresh();
    await expect(
      attempt.operation({}, (fs) => fs.writeFile('/a', 'AGENT 2\n', { ifVersion: version })),
    ).rejects.toMatchObject({ code: 'ECHANGED' });
    expect(await codes()).toEqual(['content']);
  });

  it('comes back if the person goes on, and by undo', async () => {
    await write('AGENT\n');
    person('PERSON\n');
    await attempt.refresh();
    await write('BOTH\n');
    await attempt.undo();
    expect(await codes()).toEqual(['content']);
    await attempt.redo();
    person('PERSON 2\n');
    expect(await codes()).toEqual(['content']);
    expect((await attempt.accept()).success).toBe(false);
  });

  it('is reported by undo, redo and restore, which a write then settles', async () => {
    await write('AGENT\n');
    await write('AGENT 2\n');
    person('PERSON\n');
    const told = { refreshed: { conflicts: [{ path: '/a', code: 'content' }] } };
    expect(await attempt.undo()).toMatchObject(told);
    expect(await attempt.redo()).toMatchObject(told);
    expect(await attempt.restore(1)).toMatchObject(told);
    await write('BOTH\n');
    expect((await attempt.accept()).accepted).toEqual(['/a']);
  });

  it("is ended by restore('disk'), also in a fork, under a removed directory and where a file was moved", async () => {
    mkdirSync(join(disk, 'd'));
    for (const name of ['d/f', 'd/g']) person('old\n', name);
    await write('AGENT\n');
    await attempt.fileSystem.rm('/d', { recursive: true });
    await attempt.fileSystem.rename('/b', '/c');
    await write('AGENT\n', '/c');
    const fork = await attempt.fork();
    for (const name of ['a', 'b', 'd/f']) person('PERSON\n', name);
    const found = async (): Promise<string[]> => (await fork.refresh()).conflicts.map(({ path }) => path);
    expect(await found()).toEqual(['/a', '/c', '/d/f']);
    await fork.restore(0, { path: '/a' });
    expect(await found()).toContain('/a');
    for (const path of ['/a', '/c', '/d/f'])
      expect((await fork.restore('disk', { path }))?.summary).toMatch(/^Restore \/(a|c|d) from the disk$/);
    expect(await fork.restore('disk', { path: '/a' })).toBeUndefined();
    expect(await found()).toEqual([]);
    expect((await fork.diff()).paths).toEqual([]);
    expect(await fork.fileSystem.readText('/d/f')).toBe('PERSON\n');
    for (let i = 0; i < 3; i++) await fork.undo();
    expect(await found()).toEqual(['/a', '/c', '/d/f']);
    expect((await fork.restore('disk'))?.summary).toBe('Restore everything from the disk');
    expect(await fork.restore('disk')).toBeUndefined();
    expect([await found(), (await fork.diff()).paths]).toEqual([[], []]);
  });

  it('is not settled by a write unless a result has told of this state of the disk', async () => {
    await write('AGENT\n');
    person('PERSON\n');
    // Neither result has the conflict.
    await attempt.fileSystem.writeFile('/a', 'AGENT 2\n');
    await attempt.labelled({}, () => attempt.fileSystem.writeFile('/a', 'AGENT 3\n'));
    expect((await write('AGENT 4\n')).refreshed.conflicts).toMatchObject([{ path: '/a' }]);
    person('PERSON 2\n');
    await attempt.fileSystem.writeFile('/a', 'AGENT 5\n');
    expect((await write('AGENT 6\n')).refreshed.conflicts).toMatchObject([{ path: '/a' }]);
    expect((await attempt.accept()).success).toBe(false);
    expect(onDisk()).toBe('PERSON 2\n');
  });

  it('is found by labelled() at the paths of the call, and settled once it was told of', async () => {
    await write('AGENT\n');
    await attempt.fileSystem.writeFile('/b', 'AGENT\n');
    person('PERSON\n');
    const call = (path: string, content: string) =>
      attempt.labelled({}, () => attempt.fileSystem.writeFile(path, content), { isSingleCall: true, paths: [path] });
    expect((await call('/b', 'AGENT 2\n')).refreshed).toEqual({ merged: [], conflicts: [] });
    const read = await attempt.labelled({}, () => attempt.fileSystem.readText('/a'), { paths: ['a'] });
    expect(read.refreshed.conflicts).toMatchObject([{ path: '/a' }]);
    await call('/a', 'AGENT 3\n');
    expect(await codes()).toEqual(['content']);
    attempt.markTold(read.refreshed.conflicts);
    await call('/a', 'AGENT 4\n');
    expect(await codes()).toEqual([]);
  });

  it('of which another process was told is reported by the next write of this one', async () => {
    const directory = directories.directory({ a: 'old\n' });
    const store = `file://${directories.directory()}`;
    await using one = await openWorkspace(directory, { store });
    const first = await one.attempt();
    await first.fileSystem.writeFile('/a', 'AGENT\n');
    writeFileSync(join(directory, 'a'), 'PERSON\n');
    expect((await first.refresh()).conflicts).toHaveLength(1);
    await using two = await openWorkspace(directory, { store });
    const second = await two.attempt(first.name);
    expect(await second.fileSystem.readText('/a')).toBe('AGENT\n');
    const { refreshed } = await second.operation({}, (fs) => fs.writeFile('/a', 'AGENT 2\n'));
    expect(refreshed.conflicts).toMatchObject([{ path: '/a', code: 'content' }]);
    expect((await second.accept()).success).toBe(false);
  });

  it.each<[string, (fs: FileSystem) => Promise<void>, string | undefined]>([
    ['a copy over the file', (fs) => fs.copyFile('/b', '/a'), 'old\n'],
    ['the removal of the file', (fs) => fs.rm('/a'), undefined],
    ['a link in place of the file', (fs) => fs.rm('/a').then(() => fs.link('/b', '/a')), 'old\n'],
    ['another file moved over it', (fs) => fs.rename('/b', '/a'), 'old\n'],
  ])('is settled by %s', async (_, change, text) => {
    await write('AGENT\n');
    person('PERSON\n');
    expect(await codes()).toEqual(['content']);
    expect((await attempt.operation({}, change)).refreshed.conflicts).toEqual([]);
    expect(await codes()).toEqual([]);
    expect((await attempt.accept()).success).toBe(true);
    expect(existsSync(join(disk, 'a')) ? onDisk() : undefined).toBe(text);
    await attempt.undo();
    expect(onDisk()).toBe('PERSON\n');
  });

  it('of a file with two names stays at the other name if one is removed', async () => {
    linkSync(join(disk, 'a'), join(disk, 'c'));
    await write('AGENT\n');
    await write('AGENT 2\n', '/c');
    person('PERSON\n');
    expect(await codes()).toEqual(['content', 'content']);
    await attempt.operation({}, (fs) => fs.rm('/c'));
    expect(await codes()).toContain('content');
    expect((await attempt.accept()).success).toBe(false);
    expect([onDisk(), onDisk('c')]).toEqual(['PERSON\n', 'PERSON\n']);
  });

  it.each<[string, (fs: FileSystem) => Promise<void>, string | undefined]>([
    ['removed', (fs) => fs.rm('/c'), undefined],
    ['made anew', (fs) => fs.rm('/c').then(() => fs.writeFile('/c', 'NEW\n')), 'NEW\n'],
    ['replaced by a copy', (fs) => fs.copyFile('/d', '/c'), 'd\n'],
  ])('of a file that the attempt has moved over another one is settled if it is %s', async (_, change, text) => {
    for (const name of ['c', 'd']) person(`${name}\n`, name);
    await attempt.fileSystem.rename('/a', '/c');
    await write('AGENT\n', '/c');
    person('PERSON\n');
    expect(await codes()).toEqual(['content']);
    await attempt.operation({}, change);
    expect(await codes()).toEqual([]);
    expect((await attempt.accept()).success).toBe(true);
    const left = ['a', 'c'].map((name) => (existsSync(join(disk, name)) ? onDisk(name) : undefined));
    expect(left).toEqual([undefined, text]);
  });

  it('of a file that the attempt has moved is settled by a write to its new path', async () => {
    await attempt.fileSystem.rename('/a', '/c');
    await write('AGENT\n', '/c');
    person('PERSON\n');
    expect(await codes()).toEqual(['content']);
    await write('BOTH\n', '/c');
    expect(await codes()).toEqual([]);
    expect((await attempt.accept()).success).toBe(true);
    expect([existsSync(join(disk, 'a')), onDisk('c')]).toEqual([false, 'BOTH\n']);
  });
});

describe('resolve', () => {
  it('keeps a moved file whose old path the person has removed', async () => {
    await attempt.fileSystem.rename('/a', '/c');
    rmSync(join(disk, 'a'));
    expect(await codes()).toEqual(['removed']);
    await attempt.resolve('/c');
    expect(await attempt.accept()).toMatchObject({ success: true, accepted: ['/c'] });
    expect(onDisk('c')).toBe('old\n');
  });

  it('keeps what the attempt has, also a removal, and can be undone', async () => {
    await attempt.fileSystem.rm('/a');
    await attempt.fileSystem.writeFile('/b', 'AGENT\n');
    person('PERSON\n');
    rmSync(join(disk, 'b'));
    await attempt.refresh();
    const operation = await attempt.resolve('/', { actor: 'ada' });
    expect(operation).toMatchObject({ tool: 'resolve', actor: 'ada', changes: [] });
    expect(await codes()).toEqual([]);
    await attempt.undo();
    expect(await codes()).toEqual(['removed', 'removed']);
    await attempt.resolve('/a');
    await attempt.resolve('/b');
    expect((await attempt.accept()).accepted).toEqual(['/a', '/b']);
    expect([existsSync(join(disk, 'a')), onDisk('b')]).toEqual([false, 'AGENT\n']);
  });

  it('settles nothing if the disk has what no result has told of', async () => {
    await write('AGENT\n');
    await write('AGENT\n', '/b');
    person('PERSON\n');
    await attempt.refresh();
    person('PERSON 2\n');
    await expect(attempt.resolve('/a')).rejects.toMatchObject({
      code: 'moved',
      message: expect.stringContaining("'/a'"),
    });
    // A failed accept shows what the disk has, too.
    expect((await attempt.accept({ paths: ['/a'] })).conflicts).toHaveLength(1);
    person('PERSON\n', 'b');
    await expect(attempt.resolve('/')).rejects.toMatchObject({
      code: 'moved',
      message: expect.stringMatching(/at '\/b'\./),
    });
    expect(await codes()).toEqual(['content', 'content']);
    await attempt.resolve('/');
    expect((await attempt.accept()).accepted).toEqual(['/a', '/b']);
  });

  it('refuses to replace a directory of the person, and names what has no conflict', async () => {
    await write('AGENT\n');
    await expect(attempt.resolve('/a')).rejects.toMatchObject({ code: 'not-found' });
    rmSync(join(disk, 'a'));
    mkdirSync(join(disk, 'a'));
    await expect(attempt.resolve('/a')).rejects.toMatchObject({ code: 'refused' });
    await write('AGENT 2\n');
    expect(await codes()).toEqual(['kind']);
  });
});
