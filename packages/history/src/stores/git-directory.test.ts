import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { afterAll, describe, expect, it } from 'vitest';
import { History } from '../history.js';
import { fromDisk, SampleGit, toDisk } from '../testing/sample-git.js';
import { GitDirectory } from './git-directory.js';

const sample = new SampleGit();
afterAll(() => sample.remove());
const { folder } = sample;
const git = (path: string, ...args: string[]): string => sample.run(['-C', path, ...args]);

describe.each(['sha1', 'sha256'] as const)('a repository with %s', (format) => {
  it('passes git fsck, log and clone', async () => {
    const disk = await openFileSystem(new MemoryStorage());
    const repository = await GitDirectory.init(disk, { path: '/', format });
    const history = new History({ repository, clock: () => 1_700_000_000_000 });
    const work = await openFileSystem(new MemoryStorage());
    // Enough objects for a pack, then few enough for loose files.
    for (let i = 0; i < 150; i++) await work.writeFile(`/file-${i}`, `content ${i}\n`.repeat(i));
    await history.commit(work, { message: 'many' });
    await work.mkdir('/dir');
    await work.writeFile('/dir/more', 'x'.repeat(100_000));
    const last = await history.commit(work, { message: 'few' });
    await history.tag('v1', 'main', { message: 'the first' });
    const path = join(folder, `written-${format}`);
    await toDisk(disk, path);
    expect(git(path, 'fsck', '--strict', '--full')).toBe('');
    expect(git(path, 'log', '--format=%H %s').split('\n')[0]).toBe(`${last} few`);
    git(folder, 'clone', '-q', path, `cloned-${format}`);
    expect(readFileSync(join(folder, `cloned-${format}`, 'dir/more'), 'utf8')).toHaveLength(100_000);
    expect(git(path, 'describe', 'main')).toBe('v1');
  });

  it('packed by git with deltas can be read completely', async () => {
    const path = join(folder, `packed-${format}`);
    git(folder, 'init', '-q', `--object-format=${format}`, '-b', 'main', path);
    const lines = Array.from({ length: 400 }, (_, i) => `line ${i * 7919}`);
    for (let i = 0; i < 30; i++) {
      lines[i * 13] = `changed ${i}`;
      writeFileSync(join(path, 'text'), lines.join('\n'));
      git(path, 'add', '-A');
      git(path, 'commit', '-q', '-m', `version ${i}`);
    }
    git(path, 'tag', '-a', 'v1', '-m', 'tagged');
    git(path, 'gc', '-q', '--aggressive');
    git(path, 'pack-refs', '--all');
    const disk = await openFileSystem(new MemoryStorage());
    await fromDisk(join(path, '.git'), disk);
    const repository = await GitDirectory.open(disk, { path: '/' });
    expect(repository.format).toBe(format);
    const history = new History({ repository });
    expect(await history.resolve('HEAD')).toBe(git(path, 'rev-parse', 'HEAD'));
    expect(await history.resolve('v1')).toBe(git(path, 'rev-parse', 'v1^{commit}'));
    const seen: string[] = [];
    for await (const commit of history.log('main')) seen.push(commit.id);
    expect(seen).toEqual(git(path, 'log', '--format=%H').split('\n'));
    const { counts, problems } = await history.verify();
    expect(problems).toEqual([]);
    expect(counts).toEqual({ commit: 30, tree: 30, blob: 30, tag: 1 });
    await repository.close();
  });

  it('of a shallow clone ends at the same commit as git log', async () => {
    const [path, clone] = ['deep', 'shallow'].map((name) => join(folder, `${name}-${format}`)) as [string, string];
    git(folder, 'init', '-q', `--object-format=${format}`, '-b', 'main', path);
    for (const message of ['one', 'two', 'three']) git(path, 'commit', '-q', '--allow-empty', '-m', message);
    git(folder, 'clone', '-q', '--depth=2', `file://${path}`, clone);
    const disk = await openFileSystem(new MemoryStorage());
    await fromDisk(join(clone, '.git'), disk);
    const repository = await GitDirectory.open(disk, { path: '/' });
    const history = new History({ repository });
    const seen: string[] = [];
    for await (const commit of history.log('main')) seen.push(commit.id);
    expect(seen).toEqual(git(clone, 'log', '--format=%H').split('\n'));
    const [tip, last] = seen as [string, string];
    expect(await history.mergeBases(tip, last)).toEqual([last]);
    expect((await history.verify()).problems).toEqual([]);
    await disk.writeFile('/shallow', '');
    const whole = new History({ repository: await GitDirectory.open(disk, { path: '/' }) });
    await expect(whole.mergeBases(tip, last)).rejects.toMatchObject({ code: 'not-found' });
    await repository.close();
  });

  it('has no reference below a packed one, and accepts one in place of empty directories that git left', async () => {
    const path = join(folder, `names-${format}`);
    git(folder, 'init', '-q', `--object-format=${format}`, '-b', 'main', path);
    git(path, 'commit', '-q', '--allow-empty', '-m', 'one');
    git(path, 'branch', 'packed/one');
    git(path, 'pack-refs', '--all');
    const disk = await openFileSystem(new MemoryStorage());
    await fromDisk(join(path, '.git'), disk);
    const history = new History({ repository: await GitDirectory.open(disk, { path: '/' }) });
    await expect(history.branch('packed', 'main')).rejects.toMatchObject({ code: 'ref-conflict' });
    await disk.mkdir('/refs/heads/left/by/git', { recursive: true });
    const id = await history.branch('left', 'main');
    expect(await history.resolve('left')).toBe(id);
    await disk.mkdir('/refs/heads/held', { recursive: true });
    await disk.writeFile('/refs/heads/held/one.lock', '');
    await expect(history.branch('held', 'main')).rejects.toMatchObject({ code: 'ref-changed' });
    expect(await disk.readText('/refs/heads/held/one.lock')).toBe('');
  });

  it('decodes messages in the encoding that a commit names', async () => {
    const path = join(folder, `latin-${format}`);
    git(folder, 'init', '-q', `--object-format=${format}`, '-b', 'main', path);
    const latin1 = ['-c', 'i18n.commitEncoding=ISO-8859-1', 'commit', '-q', '--allow-empty', '-F', '-'];
    sample.run(['-C', path, ...latin1], Buffer.from('Größe\n', 'latin1'));
    const disk = await openFileSystem(new MemoryStorage());
    await fromDisk(join(path, '.git'), disk);
    const { message } = await new History({ repository: await GitDirectory.open(disk, { path: '/' }) }).show('main');
    expect(message).toBe('Größe\n');
  });
});
