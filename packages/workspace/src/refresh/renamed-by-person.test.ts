import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { afterAll, describe, expect, it } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

/** Returns everything that a filesystem shows, files with their contents. */
async function shown(fs: FileSystem): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const pending = ['/'];
  for (const directory of pending)
    for (const { path, kind, content } of await fs.entries(directory, { content: true })) {
      found[path] = kind === 'file' ? Buffer.from(content).toString() : kind;
      if (kind === 'directory') pending.push(path);
    }
  return found;
}

/** Runs an edit by the agent and then an action of the person, and returns what is shown and the conflicts of an accept. */
async function both(edit: (fs: FileSystem) => Promise<unknown>, act: (disk: string) => void) {
  const disk = directories.directory({ 'a/y': 'one\n', 'a/s/z': 'z\n' });
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  const attempt = await workspace.attempt();
  await edit(attempt.fileSystem);
  act(disk);
  const tree = await shown(attempt.fileSystem);
  const after = await attempt.operation({}, (fs) => fs.appendFile('/a/p', 'more\n').catch(() => undefined));
  const more = after.operation === undefined ? undefined : await attempt.fileSystem.readText('/a/p');
  const { conflicts } = await attempt.accept({ onConflict: 'skip' });
  return { tree, more, disk, conflicts: conflicts.map(({ path, code }) => `${code} ${path}`) };
}

describe('what the attempt has changed and the person', () => {
  it('renames is there at both paths, each with its own content', async () => {
    const { tree, more, conflicts, disk } = await both(
      (fs) => fs.writeFile('/a/y', 'agent\n'),
      (disk) => renameSync(join(disk, 'a/y'), join(disk, 'a/p')),
    );
    expect(tree).toEqual({
      '/a': 'directory',
      '/a/p': 'one\n',
      '/a/s': 'directory',
      '/a/s/z': 'z\n',
      '/a/y': 'agent\n',
    });
    expect([more, conflicts, readFileSync(join(disk, 'a/p'), 'utf8')]).toEqual([
      'one\nmore\n',
      ['removed /a/y'],
      'one\nmore\n',
    ]);
  });

  it('links has the content of the disk under the new name', async () => {
    const { tree, more, conflicts, disk } = await both(
      (fs) => fs.writeFile('/a/y', 'agent\n'),
      (disk) => linkSync(join(disk, 'a/y'), join(disk, 'a/p')),
    );
    expect([tree['/a/p'], tree['/a/y'], more, conflicts]).toEqual(['one\n', 'agent\n', 'one\nmore\n', []]);
    const read = (name: string) => readFileSync(join(disk, name), 'utf8');
    expect([read('a/p'), read('a/y')]).toEqual(['one\nmore\n', 'agent\n']);
  });
});

describe('a name of a changed file that the attempt has not written itself', () => {
  it('belongs to the attempt from the accept that finds it, and before that leads to what the person puts there', async () => {
    const disk = directories.directory({ 'a/x': 'one\n', 'a/y': 'other\n' });
    linkSync(join(disk, 'a/x'), join(disk, 'a/p'));
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.appendFile('/a/x', 'agent\n');
    await attempt.fileSystem.rename('/a/y', '/a/x');
    const before = await attempt.head();
    expect(await attempt.at(before).readText('/a/p')).toBe('one\nagent\n');
    await attempt.fileSystem.writeFile('/other', '');
    await attempt.accept({ paths: ['/other'] });
    const found = await attempt.head();
    renameSync(join(disk, 'a/p'), join(disk, 'a/y'));
    writeFileSync(join(disk, 'a/p'), 'person\n');
    const { conflicts } = await attempt.refresh();
    expect(conflicts.map(({ path, code }) => `${code} ${path}`)).toEqual(['content /a/p']);
    const read = (fs: FileSystem) => fs.readText('/a/p');
    expect(await read(attempt.fileSystem)).toBe('one\nagent\n');
    expect(await read(attempt.at(found))).toBe('one\nagent\n');
    expect(await read(attempt.at(before))).toBe('person\n');
  });
});

describe('a changed file with several names, one of which the person has renamed', () => {
  const OLD = '1\n2\n3\n4\n';

  /** Runs work on an attempt that has found the new name beside the two old ones. */
  async function withThree(work: (attempt: Attempt, disk: string) => Promise<void>): Promise<void> {
    const disk = directories.directory({ 'a/x': OLD });
    linkSync(join(disk, 'a/x'), join(disk, 'a/p'));
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.chmod('/a/x', 0o755);
    await attempt.fileSystem.writeFile('/other', '');
    await attempt.fileSystem.appendFile('/a/x', '5\n');
    renameSync(join(disk, 'a/x'), join(disk, 'a/z'));
    await attempt.accept({ paths: ['/other'] });
    await work(attempt, disk);
  }

  const modes = (fs: FileSystem, names: readonly string[]) =>
    Promise.all(names.map(async (name) => (await fs.stat(`/a/${name}`)).mode & 0o777));

  it('can be read at the old name after the person has written the others anew', () =>
    withThree(async (attempt, disk) => {
      for (const name of ['p', 'z']) {
        rmSync(join(disk, 'a', name));
        writeFileSync(join(disk, 'a', name), `person ${name}\n${OLD}`);
      }
      await attempt.refresh();
      expect(await shown(attempt.fileSystem)).toEqual({
        '/a': 'directory',
        '/a/p': `person p\n${OLD}5\n`,
        '/a/x': `${OLD}5\n`,
        '/a/z': `person z\n${OLD}5\n`,
        '/other': '',
      });
      expect(await modes(attempt.fileSystem, ['p', 'x', 'z'])).toEqual([0o755, 0o755, 0o755]);
    }));

  it.each<[string, (attempt: Attempt) => Promise<unknown>, string]>([
    ['', async () => {}, `${OLD}5\n`],
    [', and undone an edit from before', (attempt) => attempt.undo().then(() => attempt.undo()), OLD],
    [', and restored one', (attempt) => attempt.restore(2, { path: '/a/x' }), OLD],
  ])('is still changed after the attempt has removed all names but one%s', (_, change, content) =>
    withThree(async (attempt) => {
      await change(attempt);
      const { fileSystem } = attempt;
      expect(await modes(fileSystem, ['p', 'x', 'z'])).toEqual([0o755, 0o755, 0o755]);
      for (const name of ['z', 'p']) await fileSystem.rm(`/a/${name}`);
      expect(await shown(fileSystem)).toEqual({ '/a': 'directory', '/a/x': content, '/other': '' });
      expect(await modes(fileSystem, ['x'])).toEqual([0o755]);
    }),
  );

  it('is gone after the attempt has removed the directory that holds all of them', () =>
    withThree(async ({ fileSystem }) => {
      await fileSystem.rm('/a', { recursive: true });
      expect(await shown(fileSystem)).toEqual({ '/other': '' });
    }));
});

describe('a directory that the person has removed and the attempt has changed', () => {
  it('renames again is there at all paths, after the attempt has linked the file at the second one', async () => {
    const disk = directories.directory({ 'a/y': 'one\n' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const { fileSystem: fs } = await workspace.attempt();
    await fs.writeFile('/a/y', 'agent\n');
    renameSync(join(disk, 'a/y'), join(disk, 'a/p'));
    await fs.appendFile('/a/p', 'more\n');
    await fs.link('/a/p', '/a/q');
    renameSync(join(disk, 'a/p'), join(disk, 'a/r'));
    for (let times = 0; times < 2; times++)
      expect(await shown(fs)).toEqual({
        '/a': 'directory',
        '/a/p': 'one\nmore\n',
        '/a/q': 'one\nmore\n',
        '/a/r': 'one\n',
        '/a/y': 'agent\n',
      });
  });

  it('leaves the listing above it when the change is undone', async () => {
    const disk = directories.directory({ 'a/y': 'one\n', 'a/s/z': 'z\n' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.writeFile('/a/s/z', 'agent\n');
    rmSync(join(disk, 'a/s'), { recursive: true });
    expect(Object.keys(await shown(attempt.fileSystem))).toEqual(['/a', '/a/s', '/a/y', '/a/s/z']);
    await attempt.undo();
    expect(Object.keys(await shown(attempt.fileSystem))).toEqual(['/a', '/a/y']);
  });
});

describe('a directory that the person has made anew and the attempt has changed', () => {
  it('is moved with what it holds now', async () => {
    const disk = directories.directory({ 'a/y': 'one\n' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.writeFile('/a/n', 'agent\n');
    renameSync(join(disk, 'a'), join(disk, 'old'));
    expect(await attempt.fileSystem.readdir('/a')).toEqual(['n']);
    mkdirSync(join(disk, 'a'));
    writeFileSync(join(disk, 'a/new'), 'new\n');
    await attempt.fileSystem.rename('/a', '/b');
    expect(await attempt.fileSystem.readdir('/b')).toEqual(['n', 'new']);
    expect((await attempt.accept()).conflicts).toEqual([]);
    expect([readdirSync(disk).sort(), readdirSync(join(disk, 'b')).sort()]).toEqual([
      ['b', 'old'],
      ['n', 'new'],
    ]);
  });
});
