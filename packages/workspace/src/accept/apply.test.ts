import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pathDiffs } from '../diff/path-diffs.js';
import { hashOf } from '../log/contents.js';
import { Directories, type Entry, fill } from '../testing/directories.js';
import { changesBetween, MemoryContents, statesOf } from '../testing/two-states.js';
import { type Applied, type ApplyCall, applySelection } from './apply.js';
import { type Selection, selectChanges } from './select.js';
import { redoWrites, undoWrites } from './undo.js';

const directories = new Directories();
afterAll(() => directories.remove());

/** Returns an attempt that is a copy of a directory, edited by `edit`. */
async function attemptOn(disk: string, edit: (copy: string) => void, moves: Readonly<Record<string, string>> = {}) {
  const contents = new MemoryContents();
  const copy = directories.copy(disk);
  edit(copy);
  const changes = await changesBetween(disk, copy, contents, moves);
  const accept = async (selection: Selection = {}, call: Partial<ApplyCall> = {}): Promise<Applied> => {
    const selected = await selectChanges(changes, selection, contents);
    return applySelection(disk, selected, contents, { onConflict: 'fail', dryRun: false, ...call });
  };
  const hunks = async (path: string): Promise<string[]> => {
    const diffs = await pathDiffs(changes, contents, { hunks: true });
    return diffs.find((diff) => diff.path === path)?.hunks.map(({ id }) => id) ?? [];
  };
  return { contents, copy, changes, accept, hunks };
}

const lines = (from: number, to: number, change: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: to - from + 1 }, (_, i) => `${change[from + i] ?? `line ${from + i}`}\n`).join('');

const read = (directory: string, path: string): string => readFileSync(join(directory, path), 'utf8');

const FILES: Readonly<Record<string, Entry>> = {
  'a.txt': lines(1, 30),
  'b/c.txt': 'c\n',
  'b/d.txt': 'd\n',
  run: { content: '#!/bin/sh\n', mode: 0o644 },
  link: '-> a.txt',
};

describe('an accept by apply', () => {
  it('writes everything that the attempt changed, with modes and links', async () => {
    const disk = directories.directory(FILES);
    const { copy, accept, contents } = await attemptOn(disk, (at) => {
      fill(at, { 'a.txt': lines(1, 30, { 3: 'three' }), 'new/deep/f.txt': 'f', other: '-> b' });
      rmSync(join(at, 'b/c.txt'));
      chmodSync(join(at, 'run'), 0o755);
    });
    const result = await accept();
    expect(result).toMatchObject({ success: true, conflicts: [] });
    expect(await statesOf(disk, contents)).toEqual(await statesOf(copy, contents));
    for (const { base, now } of result.paths) expect(base).toEqual(now);
  });

  it('merges text by lines with what the person changed, and the attempt takes it over', async () => {
    const disk = directories.directory(FILES);
    const { accept } = await attemptOn(disk, (at) => fill(at, { 'a.txt': lines(1, 30, { 3: 'agent' }) }));
    fill(disk, { 'a.txt': lines(1, 30, { 25: 'person' }) });
    const result = await accept();
    const merged = lines(1, 30, { 3: 'agent', 25: 'person' });
    expect(read(disk, 'a.txt')).toBe(merged);
    const [path] = result.paths;
    expect(path?.now?.hash).toBe(hashOf(Buffer.from(merged)));
    expect(path?.base).toEqual(path?.now);
  });

  it.each<[code: string, agent: (at: string) => void, person: (at: string) => void]>([
    ['content', (at) => fill(at, { 'b/c.txt': 'agent\n' }), (at) => fill(at, { 'b/c.txt': 'person\n' })],
    ['binary', (at) => fill(at, { 'a.txt': 'a\0' }), (at) => fill(at, { 'a.txt': lines(1, 30, { 9: 'x' }) })],
    ['removed', (at) => rmSync(join(at, 'b/c.txt')), (at) => fill(at, { 'b/c.txt': 'person\n' })],
    ['removed', (at) => fill(at, { 'b/c.txt': 'agent\n' }), (at) => rmSync(join(at, 'b/c.txt'))],
    ['exists', (at) => fill(at, { new: 'agent' }), (at) => fill(at, { new: 'person' })],
    ['exists', (at) => fill(at, { new: 'agent' }), (at) => mkdirSync(join(at, 'new'))],
    ['mode', (at) => chmodSync(join(at, 'run'), 0o755), (at) => chmodSync(join(at, 'run'), 0o600)],
    ['content', (at) => replace(at, { link: '-> run' }), (at) => replace(at, { link: '-> b' })],
    ['kind', (at) => fill(at, { 'a.txt': 'agent' }), (at) => replace(at, { 'a.txt': '-> run' })],
    ['kind', (at) => fill(at, { 'b/c.txt': 'agent' }), (at) => replace(at, { b: '-> .' })],
  ])('returns a conflict `%s` and writes nothing', async (code, agent, person) => {
    const disk = directories.directory(FILES);
    const { accept, contents } = await attemptOn(disk, (at) => {
      agent(at);
      fill(at, { beside: 'x' });
    });
    person(disk);
    const before = await statesOf(disk, contents);
    const result = await accept();
    expect(result).toMatchObject({ success: false, paths: [], writes: [] });
    expect(result.conflicts.map((conflict) => conflict.code)).toEqual([code]);
    expect(await statesOf(disk, contents)).toEqual(before);
    const rest = await accept({}, { onConflict: 'skip' });
    expect(rest.conflicts).toEqual(result.conflicts);
    expect(rest.paths.map(({ path }) => path)).toEqual(['/beside']);
    expect(read(disk, 'beside')).toBe('x');
  });

  it('merges content and mode separately, and takes equal changes of both as one', async () => {
    const disk = directories.directory(FILES);
    const { accept } = await attemptOn(disk, (at) => {
      chmodSync(join(at, 'run'), 0o755);
      fill(at, { 'b/c.txt': 'both\n', new: 'both' });
    });
    fill(disk, { run: '#!/bin/sh\nperson\n', 'b/c.txt': 'both\n', new: 'both' });
    expect(await accept()).toMatchObject({ success: true, writes: [{ path: '/run' }] });
    expect(read(disk, 'run')).toBe('#!/bin/sh\nperson\n');
    expect(statSync(join(disk, 'run')).mode & 0o777).toBe(0o755);
  });

  it('takes the mode of a file whose content both changed to the same', async () => {
    const disk = directories.directory(FILES);
    const { accept } = await attemptOn(disk, (at) => {
      fill(at, { run: 'both\n' });
      chmodSync(join(at, 'run'), 0o755);
    });
    fill(disk, { run: 'both\n' });
    expect(await accept()).toMatchObject({ success: true, writes: [{ path: '/run' }] });
    expect(read(disk, 'run')).toBe('both\n');
    expect(statSync(join(disk, 'run')).mode & 0o777).toBe(0o755);
  });

  it('carries what the person changed along with a moved directory, and leaves their new files at the old path', async () => {
    const disk = directories.directory(FILES);
    const moves = { '/moved': '/b', '/moved/c.txt': '/b/c.txt', '/moved/d.txt': '/b/d.txt' };
    const { accept, contents } = await attemptOn(disk, (at) => renameSync(join(at, 'b'), join(at, 'moved')), moves);
    fill(disk, { 'b/c.txt': 'c of the person\n', 'b/new': 'new' });
    const result = await accept();
    expect(result).toMatchObject({ success: true, conflicts: [], keptDirectories: ['/b'] });
    expect(read(disk, 'moved/c.txt')).toBe('c of the person\n');
    expect(read(disk, 'moved/d.txt')).toBe('d\n');
    const left = [...(await statesOf(disk, contents)).keys()].filter((path) => path.startsWith('/b'));
    expect(left).toEqual(['/b', '/b/new']);
  });

  it('returns a conflict `directory` if the directory that a move came from is gone', async () => {
    const disk = directories.directory(FILES);
    const moves = { '/moved': '/b', '/moved/c.txt': '/b/c.txt', '/moved/d.txt': '/b/d.txt' };
    const { accept } = await attemptOn(disk, (at) => renameSync(join(at, 'b'), join(at, 'moved')), moves);
    rmSync(join(disk, 'b'), { recursive: true });
    const { conflicts, success } = await accept();
    expect(success).toBe(false);
    expect(conflicts.map(({ path, code }) => [path, code])).toEqual([
      ['/moved', 'directory'],
      ['/moved/c.txt', 'removed'],
      ['/moved/d.txt', 'removed'],
    ]);
    expect(existsSync(join(disk, 'moved'))).toBe(false);
  });

  it('makes directories again that the person has removed, and undoing removes them', async () => {
    const disk = directories.directory({ ...FILES, 'b/e/f.txt': 'f' });
    const { accept, contents } = await attemptOn(disk, (at) => fill(at, { 'b/e/new.txt': 'new' }));
    rmSync(join(disk, 'b'), { recursive: true });
    const { writes, paths } = await accept();
    expect(paths.map(({ path }) => path)).toEqual(['/b/e/new.txt']);
    expect(read(disk, 'b/e/new.txt')).toBe('new');
    expect(await undoWrites(disk, writes, contents)).toEqual([]);
    expect(existsSync(join(disk, 'b'))).toBe(false);
  });

  it('breaks hard links and names files that run on their own', async () => {
    const disk = directories.directory({ ...FILES, 'package.json': '{}' });
    linkSync(join(disk, 'a.txt'), join(disk, 'second'));
    const { accept } = await attemptOn(disk, (at) => fill(at, { 'a.txt': 'new', 'package.json': '{ }' }));
    expect((await accept()).autoRun).toEqual(['/package.json']);
    expect(read(disk, 'a.txt')).toBe('new');
    expect(read(disk, 'second')).toBe(lines(1, 30));
  });

  it('writes nothing in a dry run', async () => {
    const disk = directories.directory(FILES);
    const { accept } = await attemptOn(disk, (at) => fill(at, { 'a.txt': 'new' }));
    const result = await accept({}, { dryRun: true });
    expect(result.paths.map(({ path }) => path)).toEqual(['/a.txt']);
    expect(read(disk, 'a.txt')).toBe(lines(1, 30));
  });

  it('replaces a directory by a file and a file by a directory', async () => {
    const disk = directories.directory(FILES);
    const { accept, contents, copy } = await attemptOn(disk, (at) => {
      replace(at, { b: 'file', run: '/' });
      fill(at, { 'run/inside': 'x' });
    });
    const { writes } = await accept();
    expect(await statesOf(disk, contents)).toEqual(await statesOf(copy, contents));
    expect(await undoWrites(disk, writes, contents)).toEqual([]);
    expect(read(disk, 'b/c.txt')).toBe('c\n');
  });
});

describe('an accept of a part', () => {
  const edit = (at: string): void =>
    fill(at, { 'a.txt': lines(1, 30, { 3: 'three', 15: 'fifteen', 28: 'twenty-eight' }), other: 'x' });

  it('takes two of three hunks into a file that the person has edited, and the third stays open', async () => {
    const disk = directories.directory(FILES);
    const { accept, hunks } = await attemptOn(disk, edit);
    fill(disk, { 'a.txt': lines(1, 30, { 9: 'person' }) });
    const [first, , third] = await hunks('/a.txt');
    const result = await accept({ hunks: [first as string, third as string] });
    const written = lines(1, 30, { 3: 'three', 9: 'person', 28: 'twenty-eight' });
    expect(read(disk, 'a.txt')).toBe(written);
    expect(existsSync(join(disk, 'other'))).toBe(false);
    const [path] = result.paths;
    expect(path?.base?.hash).toBe(hashOf(Buffer.from(written)));
    const open = lines(1, 30, { 3: 'three', 9: 'person', 15: 'fifteen', 28: 'twenty-eight' });
    expect(path?.now?.hash).toBe(hashOf(Buffer.from(open)));
  });

  it('keeps the accepted hunks as the base if the open ones conflict with what the person changed', async () => {
    const disk = directories.directory(FILES);
    const { accept, hunks, changes } = await attemptOn(disk, edit);
    fill(disk, { 'a.txt': lines(1, 30, { 15: 'person' }) });
    const [first] = await hunks('/a.txt');
    const [path] = (await accept({ hunks: [first as string] })).paths;
    expect(read(disk, 'a.txt')).toBe(lines(1, 30, { 3: 'three', 15: 'person' }));
    expect(path?.base?.hash).toBe(hashOf(Buffer.from(lines(1, 30, { 3: 'three' }))));
    expect(path?.now).toEqual(changes.find((change) => change.path === '/a.txt')?.now);
  });

  it('takes files without hunks that are named beside hunks, and the mode only with all hunks', async () => {
    const disk = directories.directory(FILES);
    const { accept, hunks } = await attemptOn(disk, (at) => {
      edit(at);
      chmodSync(join(at, 'a.txt'), 0o755);
    });
    const ids = await hunks('/a.txt');
    const modeOf = (): number => statSync(join(disk, 'a.txt')).mode & 0o777;
    const result = await accept({ hunks: ids.slice(0, 1), paths: ['/other'] });
    expect(result.paths.map(({ path }) => path)).toEqual(['/a.txt', '/other']);
    expect(modeOf()).toBe(0o644);
    await accept({ hunks: ids });
    expect(modeOf()).toBe(0o755);
  });

  it('brings new directories, both ends of a move, and what makes room', async () => {
    const disk = directories.directory(FILES);
    const { changes, contents } = await attemptOn(
      disk,
      (at) => {
        fill(at, { 'new/deep/f.txt': 'f', 'new/g.txt': 'g', third: 'x' });
        renameSync(join(at, 'a.txt'), join(at, 'new/a.txt'));
        replace(at, { b: 'file' });
      },
      { '/new/a.txt': '/a.txt' },
    );
    const select = async (...paths: string[]): Promise<string[]> =>
      (await selectChanges(changes, { paths }, contents)).map(({ path }) => path);
    expect(await select('/new/deep/f.txt')).toEqual(['/new', '/new/deep', '/new/deep/f.txt']);
    expect(await select('/a.txt')).toEqual(['/a.txt', '/new', '/new/a.txt']);
    expect(await select('/new/a.txt')).toEqual(['/a.txt', '/new', '/new/a.txt']);
    expect(await select('/b')).toEqual(['/b', '/b/c.txt', '/b/d.txt']);
    expect(await select('/')).toEqual(changes.map(({ path }) => path).sort());
  });

  it.each(['target', 'source'])(
    'skips both halves of a move over another file if its %s has a conflict',
    async (side) => {
      const disk = directories.directory({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
      const { accept } = await attemptOn(
        disk,
        (at) => {
          renameSync(join(at, 'a.txt'), join(at, 'b.txt'));
        },
        { '/b.txt': '/a.txt' },
      );
      fill(disk, { [side === 'target' ? 'b.txt' : 'a.txt']: 'person\n' });
      expect((await accept({}, { onConflict: 'skip' })).paths).toEqual([]);
      const [a, b] = side === 'target' ? ['a\n', 'person\n'] : ['person\n', 'b\n'];
      expect([read(disk, 'a.txt'), read(disk, 'b.txt')]).toEqual([a, b]);
    },
  );

  it('refuses unknown paths and hunks', async () => {
    const disk = directories.directory(FILES);
    const { accept, hunks, contents } = await attemptOn(disk, edit);
    await expect(accept({ paths: ['/none'] })).rejects.toThrow(
      "The attempt has no change at '/none'. It has changes at '/a.txt', '/other'.",
    );
    await expect(accept({ hunks: ['0123456789-1'] })).rejects.toMatchObject({ code: 'not-found' });
    const [first] = await hunks('/a.txt');
    await expect(accept({ hunks: [first as string, `${first?.split('-')[0]}-4`] })).rejects.toThrow(/no hunk/);
    expect((await statesOf(disk, contents)).has('/other')).toBe(false);
  });
});

/** Removes entries and creates others in their place. */
function replace(directory: string, entries: Readonly<Record<string, Entry>>): void {
  for (const name of Object.keys(entries)) rmSync(join(directory, name), { recursive: true });
  fill(directory, entries);
}

describe('undoing an accept', () => {
  const edit = (at: string): void => {
    fill(at, { 'a.txt': 'agent', 'new/f': 'f' });
    rmSync(join(at, 'b'), { recursive: true });
  };

  it('restores each path, and repeating writes it again', async () => {
    const disk = directories.directory(FILES);
    const { accept, contents, copy } = await attemptOn(disk, edit);
    const before = await statesOf(disk, contents);
    const { writes } = await accept();
    const after = await statesOf(copy, contents);
    for (let count = 0; count < 2; count++) {
      expect(await undoWrites(disk, writes, contents)).toEqual([]);
      expect(await statesOf(disk, contents)).toEqual(before);
      expect(await redoWrites(disk, writes, contents)).toEqual([]);
      expect(await statesOf(disk, contents)).toEqual(after);
    }
  });

  it('changes nothing if the person has edited, removed or added something, and names the paths', async () => {
    const disk = directories.directory(FILES);
    const { accept, contents } = await attemptOn(disk, edit);
    const { writes } = await accept();
    fill(disk, { 'a.txt': 'person', 'new/more': 'more', 'b/c.txt': 'again' });
    const before = await statesOf(disk, contents);
    expect(await undoWrites(disk, writes, contents)).toEqual(['/a.txt', '/b/c.txt', '/new']);
    expect(await statesOf(disk, contents)).toEqual(before);
  });
});
