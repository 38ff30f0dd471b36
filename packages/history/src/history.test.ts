import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { asyncStorage, backendOf, type FileSystem, openFileSystem } from '@scratchfs/core';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { editTree } from './edit-tree.js';
import { History } from './history.js';
import type { ObjectId } from './object-id.js';
import { ObjectReader } from './object-reader.js';
import { portablePrimitives } from './primitives.js';
import { MemoryRepository } from './stores/memory-repository.js';

const folder = mkdtempSync(join(tmpdir(), 'history-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function git(args: string[], input?: string): string {
  const env = {
    PATH: process.env.PATH,
    GIT_DIR: join(folder, '.git'),
    GIT_WORK_TREE: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    HOME: folder,
    GIT_AUTHOR_NAME: 'A U Thor',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_AUTHOR_DATE: '1700000000 +0130',
    GIT_COMMITTER_NAME: 'C O Mitter',
    GIT_COMMITTER_EMAIL: 'c@example.com',
    GIT_COMMITTER_DATE: '1700000001 -0800',
  };
  return execFileSync('git', args, { cwd: folder, env, input, encoding: 'utf8' }).trim();
}

const files: Record<string, string> = {
  'a.txt': 'one\n',
  'dir/b.txt': 'two',
  'dir.x/c': '',
  'dir/deep/ünï/€.md': 'crlf\r\n',
  dir0: 'sorts after dir/',
  __proto__: 'a name',
};

const author = { name: 'A U Thor', email: 'a@example.com', timestamp: 1_700_000_000, timezone: 90 };
const committer = { name: 'C O Mitter', email: 'c@example.com', timestamp: 1_700_000_001, timezone: -480 };

beforeAll(() => {
  git(['init', '-q']);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  writeFileSync(join(folder, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  symlinkSync('../a.txt', join(folder, 'dir/link'));
  git(['add', '-A']);
});

async function fill(fileSystem: FileSystem): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await fileSystem.mkdir(dirname(`/${path}`), { recursive: true });
    await fileSystem.writeFile(`/${path}`, text);
  }
  await fileSystem.writeFile('/run.sh', '#!/bin/sh\n', { mode: 0o755 });
  await fileSystem.symlink('../a.txt', '/dir/link');
  await fileSystem.mkdir('/empty/of/files', { recursive: true });
}

describe.each([
  ['memory', () => new MemoryStorage()],
  ['a remote storage', () => asyncMemoryStorage()],
])('a history of a filesystem on %s', (_name, storage) => {
  it('has the ids that git gives the same content', async () => {
    const fileSystem = await openFileSystem(storage());
    await fill(fileSystem);
    const history = new History();
    const tree = await history.writeTree(fileSystem);
    expect(tree).toBe(git(['write-tree']));
    const id = await history.commit(fileSystem, { message: 'first', author, committer });
    expect(id).toBe(git(['commit-tree', tree, '-m', 'first']));
    await fileSystem.appendFile('/dir/b.txt', '!');
    const second = await history.commit(fileSystem, { message: 'second', author, committer });
    writeFileSync(join(folder, 'dir/b.txt'), 'two!');
    git(['add', '-A']);
    expect(second).toBe(git(['commit-tree', git(['write-tree']), '-p', id, '-m', 'second']));
    writeFileSync(join(folder, 'dir/b.txt'), 'two');
    git(['add', '-A']);
    expect((await history.show('main')).parent).toBe(id);
  });

  it('checks out a version exactly', async () => {
    const fileSystem = await openFileSystem(storage());
    await fill(fileSystem);
    const history = new History();
    const first = await history.commit(fileSystem, { message: 'first' });
    await fileSystem.rm('/dir', { recursive: true });
    await fileSystem.writeFile('/dir', 'a file now');
    await fileSystem.chmod('/run.sh', 0o644);
    await fileSystem.mkdir('/extra/stuff', { recursive: true });
    await fileSystem.writeFile('/extra/stuff/x', 'x');
    const second = await history.commit(fileSystem, { message: 'second' });
    await history.checkout(first, fileSystem);
    expect(await fileSystem.readText('/dir/deep/ünï/€.md')).toBe('crlf\r\n');
    expect(await fileSystem.readlink('/dir/link')).toBe('../a.txt');
    expect((await fileSystem.stat('/run.sh')).mode & 0o111).toBe(0o111);
    expect(await fileSystem.exists('/extra')).toBe(false);
    await history.checkout(second, fileSystem);
    expect(await fileSystem.readText('/dir')).toBe('a file now');
    expect(await history.writeTree(fileSystem)).toBe((await history.show(second)).tree);
    const { problems, counts } = await history.verify();
    expect(problems).toEqual([]);
    expect(counts.commit).toBe(2);
  });
});

describe('a history', () => {
  it('restores one file or one directory and leaves the rest', async () => {
    const fileSystem = await openFileSystem(new MemoryStorage());
    await fill(fileSystem);
    const history = new History();
    const id = await history.commit(fileSystem, { message: 'all' });
    await fileSystem.rm('/dir', { recursive: true });
    await fileSystem.writeFile('/a.txt', 'changed');
    await fileSystem.writeFile('/kept', 'kept');
    await history.restore(id, './/dir/./deep/', fileSystem);
    await history.restore(id, 'a.txt', fileSystem);
    expect(await fileSystem.readText('/a.txt')).toBe('one\n');
    expect(await fileSystem.readText('/dir/deep/ünï/€.md')).toBe('crlf\r\n');
    expect(await fileSystem.exists('/dir/b.txt')).toBe(false);
    expect(await fileSystem.exists('/kept')).toBe(true);
    await expect(history.restore(id, '/nowhere', fileSystem)).rejects.toMatchObject({ code: 'not-found' });
  });

  it.each(['a link', 'a file'])(
    'restores a file although %s has the name of its directory, and writes nothing through it',
    async (what) => {
      const fileSystem = await openFileSystem(new MemoryStorage());
      for (const [folder, text] of [
        ['/d/e', 'old'],
        ['/elsewhere/e', 'mine'],
      ] as const) {
        await fileSystem.mkdir(folder, { recursive: true });
        await fileSystem.writeFile(`${folder}/x`, text);
      }
      const history = new History({ clock: () => 0 });
      const id = await history.commit(fileSystem, { message: 'first' });
      await fileSystem.rm('/d', { recursive: true });
      if (what === 'a link') await fileSystem.symlink('/elsewhere', '/d');
      else await fileSystem.writeFile('/d', 'a file');
      await history.restore(id, 'd/e/x', fileSystem);
      expect(await fileSystem.readText('/d/e/x')).toBe('old');
      expect(await fileSystem.readText('/elsewhere/e/x')).toBe('mine');
    },
  );

  it('creates the directory of a submodule in place of a file or a link', async () => {
    const fileSystem = await openFileSystem(new MemoryStorage());
    await fileSystem.writeFile('/a', '1');
    const history = new History({ clock: () => 0 });
    const plain = await history.commit(fileSystem, { message: 'a file' });
    const other = { mode: '160000', id: plain } as const;
    const tree = await history.editTree(plain, new Map([['a', other]]));
    const submodule = await history.commitTree(tree, { message: 'a submodule', parents: [plain] });
    await history.checkout(submodule, fileSystem);
    expect(await fileSystem.readdir('/a')).toEqual([]);
    await history.checkout(plain, fileSystem);
    expect(await fileSystem.readText('/a')).toBe('1');
  });

  it('keeps submodules whose directories are empty, and forgets those whose directories are missing', async () => {
    git(['update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},lib/other`]);
    const withSubmodule = git(['write-tree']);
    git(['update-index', '--force-remove', 'lib/other']);
    const repository = new MemoryRepository();
    const history = new History({ repository });
    const fileSystem = await openFileSystem(new MemoryStorage());
    await fill(fileSystem);
    const plain = await history.writeTree(fileSystem);
    const lib = { mode: '160000', name: 'other', id: '1'.repeat(40) as ObjectId } as const;
    const { id, objects } = await editTree(
      new ObjectReader(repository, portablePrimitives),
      plain,
      new Map([['lib/other', lib]]),
    );
    await repository.write(objects);
    expect(id).toBe(withSubmodule);
    const commit = await history.commitTree(id, { message: 'with', parents: [] });
    await history.moveRef('refs/heads/main', undefined, commit);
    await history.checkout('main', fileSystem);
    expect(await fileSystem.readdir('/lib/other')).toEqual([]);
    await fileSystem.writeFile('/new', 'x');
    const next = await history.commit(fileSystem, { message: 'next' });
    expect((await history.diff(commit, next)).added.map(({ path }) => path)).toEqual(['new']);
    expect((await history.diff(commit, next)).removed).toEqual([]);
    await fileSystem.rm('/lib', { recursive: true });
    const last = await history.commit(fileSystem, { message: 'last' });
    expect((await history.diff(next, last)).removed).toMatchObject([{ path: 'lib/other', mode: '160000' }]);
  });

  it('checks out under limits that another client has raised', async () => {
    const backend = backendOf(new MemoryStorage());
    const [fs, other] = await Promise.all([
      openFileSystem(asyncStorage(backend)),
      openFileSystem(asyncStorage(backend)),
    ]);
    const source = await openFileSystem(new MemoryStorage(), { files: { '/a': '1', '/b': '2', '/c': '3' } });
    const history = new History({ clock: () => 0 });
    const id = await history.commit(source, { message: 'three files' });
    await other.setLimits({ maxNodeCount: 2 });
    await expect(history.checkout(id, fs)).rejects.toMatchObject({ code: 'ENOSPC', allowed: 2 });
    await other.setLimits({ maxNodeCount: 3 });
    await history.checkout(id, fs);
    expect(await other.readdir('/')).toEqual(['a', 'b', 'c']);
    await other.setLimits({ maxNodeCount: 2 });
    await other.rm('/a');
    await expect(history.checkout(id, fs)).rejects.toMatchObject({ code: 'ENOSPC', allowed: 2 });
  });

  it('writes only the objects that changed', async () => {
    const repository = new MemoryRepository();
    const history = new History({ repository });
    const fileSystem = await openFileSystem(new MemoryStorage());
    for (let i = 0; i < 100; i++) {
      await fileSystem.mkdir(`/d${i}`);
      for (let n = 0; n < 10; n++) await fileSystem.writeFile(`/d${i}/f${n}`, `${i} ${n}`);
    }
    await history.commit(fileSystem, { message: 'first' });
    const held = repository.size;
    let hashed = 0;
    const primitives = {
      ...portablePrimitives,
      hasher(format: 'sha1' | 'sha256') {
        hashed += 1;
        return portablePrimitives.hasher(format);
      },
    };
    const counted = new History({ repository, primitives });
    await counted.writeTree(fileSystem);
    hashed = 0;
    await fileSystem.appendFile('/d7/f3', '!');
    await counted.commit(fileSystem, { message: 'second' });
    // The file, its directory, the root, the commit, and the previous commit, which is read.
    expect(hashed).toBe(5);
    expect(repository.size).toBe(held + 4);
    const fork = await fileSystem.fork();
    hashed = 0;
    await counted.writeTree(fork);
    expect(hashed).toBe(0);
  });
});
