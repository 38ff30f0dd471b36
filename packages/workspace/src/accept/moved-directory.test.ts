import { existsSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { createFileSystem } from 'scratchfs';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { Directories, fill } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

const OLD = '1\n2\n3\n4\n5\n';
const PERSON = 'PERSON\n2\n3\n4\n5\n';

/** Accepts what an agent did, after a person has written `/d/f` on the disk. */
async function acceptAfter(agent: (fs: FileSystem) => Promise<void>) {
  const disk = directories.directory({ 'd/f': OLD, 'd/g': 'g' });
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  const attempt = await workspace.attempt();
  await agent(attempt.fileSystem);
  writeFileSync(join(disk, 'd/f'), PERSON);
  const { success, conflicts } = await attempt.accept();
  return { success, conflicts, read: (path: string) => readFileSync(join(disk, path), 'utf8') };
}

describe('an edit by the person under a directory that the attempt moved', () => {
  it.each([
    ['edited', 'content', async (fs: FileSystem) => fs.writeFile('/e/f', 'AGENT\n')],
    ['removed', 'removed', async (fs: FileSystem) => fs.rm('/e/f')],
  ])('conflicts where the attempt %s the file too', async (_, code, change) => {
    const { success, conflicts, read } = await acceptAfter(async (fs) => {
      await fs.rename('/d', '/e');
      await change(fs);
    });
    expect([success, conflicts.map((conflict) => conflict.code)]).toEqual([false, [code]]);
    expect(read('d/f')).toBe(PERSON);
  });

  it('is merged with another line of the attempt', async () => {
    const { success, read } = await acceptAfter(async (fs) => {
      await fs.rename('/d', '/e');
      await fs.writeFile('/e/f', '1\n2\n3\n4\nAGENT\n');
    });
    expect([success, read('e/f')]).toEqual([true, 'PERSON\n2\n3\n4\nAGENT\n']);
  });

  it.each([
    ['a new mode', '/e/f', async (fs: FileSystem) => fs.chmod('/e/f', 0o755)],
    ['a second move', '/h', async (fs: FileSystem) => fs.rename('/e/f', '/h')],
  ])('is kept with %s', async (_, path, change) => {
    const { success, read } = await acceptAfter(async (fs) => {
      await fs.rename('/d', '/e');
      await change(fs);
    });
    expect([success, read(path)]).toEqual([true, PERSON]);
  });
});

it('an accept of a part of a moved directory is logged although a file that stays was removed while it ran', async () => {
  const disk = directories.directory({ 'd/f': 'f', 'd/g': 'g', 'd/h': 'h' });
  const store = createFileSystem();
  await using workspace = await openWorkspace(disk, { store });
  const attempt = await workspace.attempt();
  await attempt.fileSystem.rename('/d', '/e');
  const { writeFile } = store;
  store.writeFile = (async (...given: Parameters<typeof writeFile>) => {
    if (existsSync(join(disk, 'e/f'))) rmSync(join(disk, 'd/h'), { force: true });
    return writeFile.apply(store, given);
  }) as typeof writeFile;
  expect(await attempt.accept({ paths: ['/e/f'] })).toMatchObject({ success: true, operation: { tool: 'accept' } });
  expect(existsSync(join(disk, 'd/h'))).toBe(false);
  expect(await attempt.fileSystem.readdir('/e')).toEqual(['f', 'g']);
  expect(await attempt.fileSystem.readText('/e/g')).toBe('g');
});

describe('a directory with a change inside one that the attempt moved', () => {
  const edit = (path: string) => (fs: FileSystem) => fs.writeFile(path, 'AGENT');
  const move = (fs: FileSystem): Promise<void> => fs.rename('/d', '/e');
  it.each([
    ['before', edit('/d/s/b'), move],
    ['after', move, edit('/e/s/b')],
  ])('takes all that it holds along: changed %s the move', async (_, first, second) => {
    const disk = directories.directory({ 'd/s/b': 'b', 'd/s/other': 'o', 'd/s/t/u': 'u' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    for (const step of [first, second]) await step(attempt.fileSystem);
    const list = (): string[] => readdirSync(disk, { recursive: true, encoding: 'utf8' }).sort();
    expect((await attempt.accept({ paths: ['/e/s/other'] })).success).toBe(true);
    expect(list()).toEqual(['d', 'd/s', 'd/s/b', 'd/s/t', 'd/s/t/u', 'e', 'e/s', 'e/s/other']);
    expect((await attempt.accept()).success).toBe(true);
    expect(list()).toEqual(['e', 'e/s', 'e/s/b', 'e/s/other', 'e/s/t', 'e/s/t/u']);
    expect(readFileSync(join(disk, 'e/s/b'), 'utf8')).toBe('AGENT');
    expect((await attempt.diff()).paths).toEqual([]);
    await attempt.undo();
    await attempt.undo();
    expect(list()).toEqual(['d', 'd/s', 'd/s/b', 'd/s/other', 'd/s/t', 'd/s/t/u']);
    expect(await attempt.fileSystem.readdir('/e/s')).toEqual(['b', 'other', 't']);
  });
});

describe('what the person puts into a directory that the attempt has hidden', () => {
  it.each([
    ['removed', async (fs: FileSystem) => fs.rm('/pkg', { recursive: true })],
    ['moved', async (fs: FileSystem) => fs.rename('/pkg', '/lib')],
    [
      'changed and removed',
      async (fs: FileSystem) => {
        await fs.writeFile('/pkg/sub/b', 'AGENT');
        await fs.rm('/pkg', { recursive: true });
      },
    ],
  ])('stays where it is, although it is older: %s', async (_, hide) => {
    const disk = directories.directory({ 'pkg/a': 'a', 'pkg/sub/b': 'b', 'notes/deep/n': 'n', letter: 'l' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await hide(attempt.fileSystem);
    renameSync(join(disk, 'notes'), join(disk, 'pkg/sub/notes'));
    renameSync(join(disk, 'letter'), join(disk, 'pkg/letter'));
    const { success, message } = await attempt.accept();
    expect([success, message]).toEqual([true, expect.stringContaining("stay: '/pkg', '/pkg/sub'.")]);
    const found = readdirSync(join(disk, 'pkg'), { recursive: true }).sort();
    expect(found).toEqual(['letter', 'sub', 'sub/notes', 'sub/notes/deep', 'sub/notes/deep/n']);
  });

  it('stays whatever the clocks say', async () => {
    const disk = directories.directory({ 'pkg/a': 'a', 'pkg/b': 'b' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    await attempt.fileSystem.rm('/pkg', { recursive: true });
    clock.mockRestore();
    fill(disk, { 'pkg/a': 'PERSON', 'pkg/new': 'new' });
    const { conflicts } = await attempt.accept({ onConflict: 'skip' });
    expect(conflicts.map(({ path }) => path)).toEqual(['/pkg/a']);
    expect(readdirSync(join(disk, 'pkg'))).toEqual(['a', 'new']);
  });
});

describe('an earlier state with a directory that the attempt moved', () => {
  const contentsIn = async (fs: FileSystem): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    for (const directory of ['/e', '/e/s'])
      for (const { path, kind, content } of await fs.entries(directory, { content: true }))
        if (kind === 'file') found[path] = Buffer.from(content).toString();
    return found;
  };
  const namesIn = async (fs: FileSystem): Promise<string[]> => {
    const names: string[] = [];
    for await (const { path, kind } of fs.walk('/')) if (kind === 'file') names.push(path);
    return names.sort();
  };

  it('shows the files where an accept has put them, and after its undo where they are again', async () => {
    const disk = directories.directory({ 'd/f': OLD, 'd/s/g': 'g' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/d', '/e');
    await attempt.fileSystem.writeFile('/e/s/g', 'agent');
    await attempt.fileSystem.writeFile('/x', 'x');
    const past = attempt.at(2);
    expect(await namesIn(past)).toEqual(['/e/f', '/e/s/g']);
    await attempt.accept();
    expect(await namesIn(past)).toEqual(['/e/f', '/e/s/g', '/x']);
    expect(await past.readText('/e/s/g')).toBe('agent');
    const fork = await attempt.fork('f', { at: 2 });
    expect((await fork.refresh()).conflicts).toEqual([]);
    expect((await fork.diff()).paths).toEqual([]);
    await fork.fileSystem.writeFile('/e/f', 'fork');
    expect((await fork.diff()).paths.map(({ path }) => path)).toEqual(['/e/f']);
    expect((await fork.accept()).success).toBe(true);
    expect(readFileSync(join(disk, 'e/f'), 'utf8')).toBe('fork');
    writeFileSync(join(disk, 'e/f'), OLD);
    await attempt.restore(2);
    expect(await namesIn(attempt.fileSystem)).toEqual(['/e/f', '/e/s/g', '/x']);
    expect((await attempt.refresh()).conflicts).toEqual([]);
    await attempt.undo();
    await attempt.undo();
    expect(readdirSync(disk)).toEqual(['d']);
    expect(await namesIn(attempt.at(2))).toEqual(['/e/f', '/e/s/g']);
  });

  it('shows the files where another attempt has put them, and takes changes along', async () => {
    const disk = directories.directory({ 'd/f': OLD, 'd/s/g': 'g' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/d', '/e');
    const [fork, reader] = [await attempt.fork('f'), await attempt.fork('r')];
    await fork.fileSystem.writeFile('/e/f', 'FORK\n');
    await attempt.accept();
    expect(await namesIn(reader.fileSystem)).toEqual(['/e/f', '/e/s/g']);
    expect(await fork.fileSystem.readText('/e/s/g')).toBe('g');
    expect(await contentsIn(reader.fileSystem)).toEqual({ '/e/f': OLD, '/e/s/g': 'g' });
    expect((await fork.refresh()).conflicts).toEqual([]);
    expect((await fork.diff()).paths.map(({ path }) => path)).toEqual(['/e/f']);
    await attempt.undo();
    expect(await namesIn(reader.fileSystem)).toEqual(['/e/f', '/e/s/g']);
    expect(readdirSync(disk)).toEqual(['d']);
    await attempt.redo();
    expect((await fork.accept()).success).toBe(true);
    expect([readdirSync(disk), readFileSync(join(disk, 'e/f'), 'utf8')]).toEqual([['e'], 'FORK\n']);
  });

  it.each([
    [
      'restored',
      async (attempt: Attempt) => {
        await attempt.restore(1);
        return attempt;
      },
    ],
    ['forked', (attempt: Attempt) => attempt.fork('f', { at: 1 })],
    [
      'undone and redone',
      async (attempt: Attempt) => {
        await attempt.undo();
        await attempt.redo();
        return attempt;
      },
    ],
  ])('takes all files along if the move is %s after its accept was undone', async (_, again) => {
    const disk = directories.directory({ 'd/f': OLD, 'd/s/g': 'g' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/d', '/e');
    await attempt.accept();
    await attempt.undo();
    fill(disk, { 'd/s/new': 'PERSON' });
    const moved = await again(attempt);
    expect((await moved.accept()).success).toBe(true);
    const found = readdirSync(disk, { recursive: true }).sort();
    expect(found).toEqual(['d', 'd/s', 'd/s/new', 'e', 'e/f', 'e/s', 'e/s/g']);
  });

  it('is moved or stays, file by file, if the move is restored after its accept was undone', async () => {
    const disk = directories.directory({ 'd/f': OLD, 'd/g': 'g', z: OLD });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/d', '/e');
    await attempt.accept();
    await attempt.undo();
    await attempt.restore(1);
    await attempt.fileSystem.writeFile('/z', 'agent');
    writeFileSync(join(disk, 'z'), PERSON);
    expect((await attempt.refresh()).conflicts).toMatchObject([{ path: '/z' }]);
    await attempt.accept({ onConflict: 'skip' });
    const names = ['d', 'e'].flatMap((name) => (existsSync(join(disk, name)) ? readdirSync(join(disk, name)) : []));
    expect(names.sort()).toEqual(['f', 'g']);
  });
});

describe('a directory that the attempt moved, with an edit by the person', () => {
  const replace = (path: string): void => {
    writeFileSync(`${path}~`, PERSON);
    renameSync(`${path}~`, path);
  };
  const list = (disk: string): string[] => readdirSync(disk, { recursive: true, encoding: 'utf8' }).sort();

  it.each([
    ['in place', (path: string) => writeFileSync(path, PERSON)],
    ['by a new file in its place, as editors save', replace],
  ])('takes the edit along: %s', async (_, edit) => {
    const disk = directories.directory({ 'd/f': OLD });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/d', '/e');
    edit(join(disk, 'd/f'));
    expect((await attempt.accept()).success).toBe(true);
    expect([list(disk), readFileSync(join(disk, 'e/f'), 'utf8')]).toEqual([['e', 'e/f'], PERSON]);
  });

  it('takes it along if an undone accept has made the file anew', async () => {
    const disk = directories.directory({ 'd/f': OLD, 'd/s/g': 'g' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/d', '/e');
    await attempt.accept();
    await attempt.undo();
    writeFileSync(join(disk, 'd/f'), PERSON);
    expect((await attempt.accept()).success).toBe(true);
    expect([list(disk), readFileSync(join(disk, 'e/f'), 'utf8')]).toEqual([['e', 'e/f', 'e/s', 'e/s/g'], PERSON]);
  });

  it('keeps the old file as long as another one is in the way at the new path', async () => {
    const disk = directories.directory({ 'd/f': OLD, 'd/g': 'g' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/d', '/e');
    fill(disk, { 'e/f': 'other', 'd/f': PERSON });
    expect((await attempt.accept({ onConflict: 'skip' })).conflicts).toMatchObject([{ path: '/e/f', code: 'exists' }]);
    expect(list(disk)).toEqual(['d', 'd/f', 'e', 'e/f', 'e/g']);
    const { success, conflicts } = await attempt.accept({ paths: ['/d/f'] });
    expect([success, conflicts.map(({ path }) => path)]).toEqual([false, ['/e/f']]);
    expect(readFileSync(join(disk, 'd/f'), 'utf8')).toBe(PERSON);
  });
});

describe('a file that the attempt moved over another one', () => {
  it.each(['/a', '/b'])('is accepted at both ends if %s is chosen', async (path) => {
    const disk = directories.directory({ a: 'a', b: 'b' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/a', '/b');
    expect((await attempt.accept({ paths: [path] })).accepted).toEqual(['/a', '/b']);
    expect([existsSync(join(disk, 'a')), readFileSync(join(disk, 'b'), 'utf8')]).toEqual([false, 'a']);
  });
});

describe('a directory that the attempt moved and that also exists on the disk', () => {
  it('keeps what it holds at a refresh', async () => {
    const disk = directories.directory({ 'd/f': OLD });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/d', '/e');
    fill(disk, { 'e/new': 'PERSON' });
    await attempt.refresh();
    expect(await attempt.fileSystem.readText('/e/f')).toBe(OLD);
    await attempt.accept({ onConflict: 'skip' });
    const found = ['d/f', 'e/f'].flatMap((name) => (existsSync(join(disk, name)) ? [name] : []));
    expect(found).toHaveLength(1);
    expect(readFileSync(join(disk, 'e/new'), 'utf8')).toBe('PERSON');
  });
});

describe('a directory that the person creates where the attempt has moved one', () => {
  it.each<[string, (fs: FileSystem) => Promise<unknown>]>([
    ['a change of a moved file', (fs) => fs.writeFile('/e/f', 'agent')],
    ['a new file', (fs) => fs.writeFile('/e/new', 'agent')],
    ['the removal of a moved file', (fs) => fs.rm('/e/f')],
  ])('hides no moved file after %s, and an accept joins both', async (_, change) => {
    const disk = directories.directory({ 'd/f': OLD, 'd/g': 'g', 'd/deep/h': 'h' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    const fs = attempt.fileSystem;
    await fs.rename('/d', '/e');
    fill(disk, { 'e/own': PERSON, 'e/deep/own': PERSON });
    await change(fs);
    await attempt.refresh();
    expect([await fs.readText('/e/g'), await fs.readText('/e/deep/h')]).toEqual(['g', 'h']);
    expect((await fs.readdir('/e')).filter((name) => name !== 'new' && name !== 'f')).toEqual(['deep', 'g']);
    expect(await attempt.accept()).toMatchObject({ success: true, conflicts: [] });
    const read = (path: string): string => readFileSync(join(disk, path), 'utf8');
    expect([read('e/g'), read('e/deep/h'), read('e/own'), read('e/deep/own')]).toEqual(['g', 'h', PERSON, PERSON]);
    expect(existsSync(join(disk, 'd'))).toBe(false);
    expect((await attempt.diff()).paths).toEqual([]);
    expect(await fs.readText('/e/own')).toBe(PERSON);
  });
});

describe('a file of a moved directory of which a part was accepted', () => {
  it.each<[string, (path: string) => void, string, number]>([
    ['is accepted after the person has touched it', (path) => utimesSync(path, 1, 1), OLD, 0],
    ['takes the edit of the person along', (path) => writeFileSync(path, PERSON), PERSON, 1],
  ])('%s', async (_, act, text, conflicts) => {
    const disk = directories.directory({ 'd/f': OLD, 'd/g': 'g' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.rename('/d', '/e');
    await attempt.accept({ paths: ['/e/g'] });
    act(join(disk, 'd/f'));
    await attempt.fileSystem.writeFile('/other', 'other');
    const skipped = await attempt.accept({ onConflict: 'skip' });
    expect(skipped.conflicts).toHaveLength(conflicts);
    for (const { base } of skipped.conflicts) expect(base?.hash).toBeDefined();
    await attempt.refresh();
    expect((await attempt.diff({ hunks: true })).paths).toHaveLength(conflicts);
    await attempt.accept();
    expect([existsSync(join(disk, 'd/f')), readFileSync(join(disk, 'e/f'), 'utf8')]).toEqual([false, text]);
  });
});
