import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSnapshot, restoreSnapshot } from '@scratchfs/core/snapshot';
import { createFileSystem } from 'scratchfs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace } from './workspace.js';

let directory: string;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-')));
  mkdirSync(join(directory, 'src'));
  writeFileSync(join(directory, 'src/a.txt'), 'one\ntwo\n');
  writeFileSync(join(directory, 'src/b.txt'), 'bee\n');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const onDisk = (path: string): string => readFileSync(join(directory, path), 'utf8');

describe('a workspace', () => {
  it('keeps changes of an attempt beside the directory, and takes them back', async () => {
    await using workspace = await openWorkspace(directory, { store: 'memory:' });
    const attempt = await workspace.attempt();
    const fs = attempt.fileSystem;
    expect(await fs.readText('/src/a.txt')).toBe('one\ntwo\n');
    expect(await workspace.attempts()).toEqual([]);
    await fs.editFile('/src/a.txt', 'two', '2');
    await fs.writeFile('/src/new.txt', 'new');
    await fs.rm('/src/b.txt');
    expect(await fs.readdir('/src')).toEqual(['a.txt', 'new.txt']);
    expect(await fs.readText('/src/a.txt')).toBe('one\n2\n');
    expect(onDisk('src/a.txt')).toBe('one\ntwo\n');
    expect(readdirSync(join(directory, 'src'))).toEqual(['a.txt', 'b.txt']);
    expect(await attempt.head()).toBe(3);
    const { operations } = await attempt.log();
    expect(operations.map(({ summary }) => summary)).toEqual([
      "Remove '/src/b.txt'",
      "Create '/src/new.txt'",
      "Change '/src/a.txt'",
    ]);
    const diff = await attempt.diff();
    expect(diff.paths.map(({ path, type }) => [path, type])).toEqual([
      ['/src/a.txt', 'changed'],
      ['/src/b.txt', 'removed'],
      ['/src/new.txt', 'added'],
    ]);
    expect(await attempt.steps('undo', { limit: 2 })).toMatchObject([{ id: 3 }, { id: 2 }]);
    expect(await attempt.undo()).toMatchObject({ id: 4, tool: 'undo', target: 3 });
    expect(await fs.readText('/src/b.txt')).toBe('bee\n');
    await attempt.undo();
    await attempt.undo();
    expect(await fs.readdir('/src')).toEqual(['a.txt', 'b.txt']);
    expect(await fs.readText('/src/a.txt')).toBe('one\ntwo\n');
    expect((await attempt.diff()).paths).toEqual([]);
    await expect(attempt.undo()).rejects.toMatchObject({ code: 'nothing-to-undo' });
    expect(await attempt.steps('undo')).toEqual([]);
    expect(await attempt.steps('redo')).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }]);
    for (let i = 0; i < 3; i++) await attempt.redo();
    await expect(attempt.redo()).rejects.toMatchObject({ code: 'nothing-to-redo' });
    expect(await fs.readdir('/src')).toEqual(['a.txt', 'new.txt']);
    expect(await workspace.attempts()).toMatchObject([{ name: attempt.name, head: 9, changedPaths: 3, current: true }]);
  });

  it('shows what the person changes on the disk at once', async () => {
    await using workspace = await openWorkspace(directory, { store: 'memory:' });
    const { fileSystem: fs } = await workspace.attempt();
    await fs.writeFile('/src/a.txt', 'mine');
    writeFileSync(join(directory, 'src/b.txt'), 'theirs\n');
    writeFileSync(join(directory, 'src/c.txt'), 'more\n');
    expect(await fs.readText('/src/b.txt')).toBe('theirs\n');
    expect(await fs.readdir('/src')).toEqual(['a.txt', 'b.txt', 'c.txt']);
    expect(await fs.readText('/src/a.txt')).toBe('mine');
  });

  it('makes one operation of a transaction, with its label', async () => {
    await using workspace = await openWorkspace(directory, { store: 'memory:' });
    const attempt = await workspace.createAttempt('first');
    const { value, operation } = await attempt.operation(
      { actor: 'claude', tool: 'write_file', summary: 'Write two files' },
      async (fs) => {
        await fs.writeFile('/x', '1');
        await fs.mkdir('/d');
        await fs.writeFile('/d/y', '2');
        return 7;
      },
    );
    expect(value).toBe(7);
    expect(operation).toMatchObject({ id: 1, attempt: 'first', actor: 'claude', tool: 'write_file' });
    expect(operation?.changes.map(({ path }) => path)).toEqual(['/d', '/d/y', '/x']);
    const { operations } = await attempt.labelled({ tool: 'bash' }, async () => {
      await attempt.fileSystem.rm('/x');
      await attempt.fileSystem.rm('/d', { recursive: true });
    });
    expect(operations.map(({ tool, changes }) => [tool, changes.map(({ path }) => path)])).toEqual([
      ['bash', ['/x']],
      ['bash', ['/d', '/d/y']],
    ]);
    expect((await attempt.diff()).paths).toEqual([]);
  });

  it('moves a directory with what is in it, and back', async () => {
    await using workspace = await openWorkspace(directory, { store: 'memory:' });
    const attempt = await workspace.attempt();
    const fs = attempt.fileSystem;
    await fs.writeFile('/src/a.txt', 'changed');
    await fs.rename('/src', '/lib');
    expect(await fs.readdir('/')).toEqual(['lib']);
    expect(await fs.readText('/lib/a.txt')).toBe('changed');
    expect(await fs.readText('/lib/b.txt')).toBe('bee\n');
    await fs.writeFile('/lib/c.txt', 'c');
    const { changes } = (await attempt.log()).operations[1] ?? {};
    expect(changes).toMatchObject([
      { path: '/lib', from: '/src' },
      { path: '/src', after: null },
    ]);
    await attempt.undo();
    await attempt.undo();
    expect(await fs.readdir('/')).toEqual(['src']);
    expect(await fs.readText('/src/a.txt')).toBe('changed');
    await attempt.undo();
    expect(await fs.readText('/src/a.txt')).toBe('one\ntwo\n');
  });

  it('goes back to any state, shows it, and forks from it', async () => {
    await using workspace = await openWorkspace(directory, { store: 'memory:' });
    const attempt = await workspace.attempt();
    const fs = attempt.fileSystem;
    for (let i = 1; i <= 3; i++) await fs.writeFile('/src/a.txt', `state ${i}`);
    await fs.writeFile('/other', 'x');
    expect(await attempt.at(2).readText('/src/a.txt')).toBe('state 2');
    expect(await attempt.at(0).readText('/src/a.txt')).toBe('one\ntwo\n');
    await expect(attempt.at(1).writeFile('/x', '')).rejects.toMatchObject({ code: 'EROFS' });
    await attempt.restore(1, { path: '/src' });
    expect(await fs.readText('/src/a.txt')).toBe('state 1');
    expect(await fs.readText('/other')).toBe('x');
    await attempt.undo();
    expect(await fs.readText('/src/a.txt')).toBe('state 3');
    await expect(attempt.restore(0, { expect: 4 })).rejects.toMatchObject({ code: 'moved' });
    await attempt.restore(0, { expect: 6 });
    expect(await fs.readdir('/')).toEqual(['src']);
    const fork = await attempt.fork('second', { at: 2 });
    await fork.fileSystem.writeFile('/only', '');
    expect(await fork.fileSystem.readText('/src/a.txt')).toBe('state 2');
    expect(await fs.exists('/only')).toBe(false);
    await workspace.switchTo('second');
    expect((await workspace.attempt()).name).toBe('second');
    await fork.discard();
    await expect(fork.fileSystem.writeFile('/x', '')).rejects.toMatchObject({ code: 'closed' });
  });

  it('says in the log that what an attempt had created was removed', async () => {
    await using workspace = await openWorkspace(directory, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.writeFile('/new.txt', 'new');
    const fork = await attempt.fork('f');
    for (const { fileSystem } of [attempt, fork]) await fileSystem.rm('/new.txt');
    for (const one of [attempt, fork])
      expect((await one.log({ limit: 1 })).operations).toMatchObject([
        { summary: "Remove '/new.txt'", changes: [{ path: '/new.txt', after: null }] },
      ]);
  });

  it('restores a file with several names under all of them', async () => {
    linkSync(join(directory, 'src/a.txt'), join(directory, 'src/c.txt'));
    await using workspace = await openWorkspace(directory, { store: 'memory:' });
    const attempt = await workspace.attempt();
    const fs = attempt.fileSystem;
    const texts = (): Promise<string[]> => Promise.all(['/src/a.txt', '/src/c.txt'].map((path) => fs.readText(path)));
    for (const path of ['/src/a.txt', '/src/c.txt', '/src']) {
      await fs.writeFile('/src/a.txt', 'agent');
      await attempt.restore(0, { path });
      expect([path, ...(await texts())]).toEqual([path, 'one\ntwo\n', 'one\ntwo\n']);
      expect((await attempt.diff()).paths).toEqual([]);
      await attempt.undo();
      expect(await texts()).toEqual(['agent', 'agent']);
    }
    await fs.link('/src/a.txt', '/d.txt');
    await attempt.restore(0, { path: '/src/a.txt' });
    expect([...(await texts()), await fs.readText('/d.txt')]).toEqual(Array(3).fill('one\ntwo\n'));
    await attempt.restore(0, { path: '/d.txt' });
    expect(await fs.exists('/d.txt')).toBe(false);
    expect(await attempt.restore(0, { path: '/src' })).toBeDefined();
    expect(await attempt.restore(0, { path: '/src' })).toBeUndefined();
  });

  it('a fork becomes the current attempt only by switchTo()', async () => {
    await using workspace = await openWorkspace(directory, { store: 'memory:' });
    const fork = await (await workspace.attempt()).fork('kept');
    const attempt = await workspace.attempt();
    expect(attempt.name).not.toBe('kept');
    await attempt.fileSystem.writeFile('/new', 'x');
    expect(await fork.fileSystem.exists('/new')).toBe(false);
    expect((await workspace.attempts()).find(({ current }) => current)?.name).toBe(attempt.name);
  });

  it('finds everything again in its store', async () => {
    const store = createFileSystem();
    let name: string;
    {
      await using workspace = await openWorkspace(directory, { store });
      const attempt = await workspace.attempt();
      ({ name } = attempt);
      for (let i = 1; i <= 120; i++) await attempt.fileSystem.writeFile('/n', String(i));
    }
    await using workspace = await openWorkspace(directory, { store });
    const attempt = await workspace.attempt();
    expect(attempt.name).toBe(name);
    expect(await attempt.fileSystem.readText('/n')).toBe('120');
    for (let i = 0; i < 120; i++) await attempt.undo();
    expect(await attempt.fileSystem.exists('/n')).toBe(false);
  });
});

it('concurrent reads with one signal make Node print no warning about listeners', async () => {
  const paths = Array.from({ length: 30 }, (_, index) => `/src/${index}.txt`);
  for (const path of paths) writeFileSync(join(directory, path), path);
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  try {
    await using workspace = await openWorkspace(directory, { store: 'memory:' });
    const { fileSystem } = await workspace.attempt();
    const { signal } = new AbortController();
    expect(await Promise.all(paths.map((path) => fileSystem.readFile(path, { encoding: 'utf8', signal })))).toEqual(
      paths,
    );
    await new Promise(setImmediate);
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', note);
  }
});

it('limits count what the attempt has added, not what the directory or a moved directory holds', async () => {
  writeFileSync(join(directory, 'src/large'), Buffer.alloc(5_000));
  await using workspace = await openWorkspace(directory, { store: 'memory:', limits: { maxTotalSize: 1_000 } });
  const attempt = await workspace.attempt();
  const fs = attempt.fileSystem;
  await fs.rename('/src', '/moved');
  await fs.writeFile('/new', Buffer.alloc(900));
  const head = await attempt.head();
  for (const path of ['/more', '/new2'])
    await expect(fs.writeFile(path, Buffer.alloc(200))).rejects.toMatchObject({
      code: 'ENOSPC',
      limit: 'maxTotalSize',
      allowed: 1_000,
    });
  expect(await attempt.head()).toBe(head);
  await fs.unlink('/new');
  await fs.writeFile('/more', Buffer.alloc(200));
  expect((await attempt.accept()).success).toBe(true);
  await fs.writeFile('/after', Buffer.alloc(900));
});

it('a file of the directory that is larger than the limit can shrink', async () => {
  writeFileSync(join(directory, 'src/large'), Buffer.alloc(5_000));
  await using workspace = await openWorkspace(directory, { store: 'memory:', limits: { maxFileSize: 1_000 } });
  const { fileSystem } = await workspace.attempt();
  const grown = fileSystem.writeFile('/src/large', Buffer.alloc(5_001));
  await expect(grown).rejects.toMatchObject({ code: 'EFBIG', used: 5_000, allowed: 1_000 });
  await fileSystem.writeFile('/src/large', Buffer.alloc(4_000));
  await expect(fileSystem.writeFile('/new', Buffer.alloc(1_001))).rejects.toMatchObject({ code: 'EFBIG' });
});

it('an edit with the label of a refresh can be undone', async () => {
  await using workspace = await openWorkspace(directory, { store: 'memory:' });
  const attempt = await workspace.attempt();
  await attempt.fileSystem.writeFile('/x', '1');
  await attempt.undo();
  await attempt.operation({ tool: 'refresh' }, (fs) => fs.writeFile('/x', '2'));
  await expect(attempt.redo()).rejects.toMatchObject({ code: 'nothing-to-redo' });
  await attempt.undo();
  expect(await attempt.fileSystem.exists('/x')).toBe(false);
});

it.each([false, true])('a restored snapshot replaces what the directory shows (live: %s)', async (live) => {
  const snapshot = createFileSystem();
  for (const path of ['/src', '/new']) await snapshot.mkdir(path);
  await snapshot.writeFile('/src/a.txt', 'from the snapshot');
  writeFileSync(join(directory, 'other'), 'other');
  await using workspace = await openWorkspace(directory, { store: 'memory:', live });
  const attempt = await workspace.attempt();
  await restoreSnapshot(attempt.fileSystem, await createSnapshot(snapshot));
  expect(await attempt.fileSystem.readdir('/')).toEqual(['new', 'src']);
  if (!live) {
    expect((await attempt.diff()).paths.find(({ path }) => path === '/other')).toMatchObject({ type: 'removed' });
    expect(await attempt.accept()).toMatchObject({ success: true, conflicts: [] });
  }
  expect(readdirSync(directory).sort()).toEqual(['new', 'src']);
  expect(readFileSync(join(directory, 'src/a.txt'), 'utf8')).toBe('from the snapshot');
  await attempt.undo();
  expect(readFileSync(join(directory, 'other'), 'utf8')).toBe('other');
  if (!live) await attempt.restore('disk');
  writeFileSync(join(directory, 'later'), '');
  expect(await attempt.fileSystem.readdir('/')).toEqual(readdirSync(directory).sort());
});
