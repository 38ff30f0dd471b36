import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { asyncMemoryStorage, MemoryStorage } from '@scratchfs/memory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { History } from './history.js';

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
  ['a far storage', () => asyncMemoryStorage()],
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

  it('brings a version back exactly', async () => {
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
