import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { SampleFolders, type SampleRepository } from '../testing/sample-repository.js';
import { HostHistory } from './host-history.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());

const tooLarge = { name: 'HistoryError', code: 'too-large', message: expect.stringContaining('maxEntries') };
let versions: HostHistory;
beforeEach(() => {
  versions = new HostHistory({ maxEntries: 5_000 });
  return () => versions.close();
});

function write(repository: SampleRepository, input: string | Buffer, ...args: string[]): string {
  const { stdout, stderr, status } = spawnSync('git', args, { cwd: repository.path, input, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

/** Commits a tree that contains the next of 12 trees ten times, and so on. The last one holds a file or nothing. */
function bomb(repository: SampleRepository, hasFile: boolean, parents: readonly string[] = []): string {
  const blob = write(repository, 'x', 'hash-object', '-w', '--stdin');
  let tree = write(repository, hasFile ? `100644 blob ${blob}\tfile\n` : '', 'mktree');
  for (let level = 1; level < 12; level++) {
    const lines = Array.from({ length: 10 }, (_, i) => `040000 tree ${tree}\td${i}\n`);
    tree = write(repository, lines.join(''), 'mktree');
  }
  return repository.git('commit-tree', tree, '-m', 'bomb', ...parents.flatMap((parent) => ['-p', parent]));
}

describe.each([
  ['files', true],
  ['empty directories', false],
])('a repository whose 12 trees describe 100 billion %s', (_name, hasFile) => {
  it('is not onboarded, within seconds', async () => {
    const repository = folders.repository({});
    repository.git('update-ref', 'HEAD', bomb(repository, hasFile));
    await expect(versions.onboardRepo(repository.path)).rejects.toMatchObject(tooLarge);
    const skipping = versions.onboardRepo(repository.path, { skipUnrepresentable: () => undefined });
    await expect(skipping).rejects.toMatchObject(tooLarge);
  });

  it('is refused by checkout, comparison, snapshots and merging, which change nothing', async () => {
    const repository = folders.repository({ 'a.txt': 'one\n' });
    const start = await versions.onboardRepo(repository.path);
    const id = bomb(repository, hasFile, [start]);
    const work = folders.folder();
    writeFileSync(join(work, 'kept'), 'kept');
    await expect(versions.checkoutSnapshot(id, work)).rejects.toMatchObject(tooLarge);
    await expect(versions.rollback(id, work)).rejects.toMatchObject(tooLarge);
    await expect(versions.diffSnapshots(start, id)).rejects.toMatchObject(tooLarge);
    await expect(versions.createSnapshot(work, id, 'x')).rejects.toMatchObject(tooLarge);
    await expect(versions.executeMerge(repository.path, id)).rejects.toMatchObject(tooLarge);
    expect(readdirSync(work)).toEqual(['kept']);
    expect(repository.git('rev-parse', 'HEAD')).toBe(start);
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('is refused by a merge into a bare repository that has it on its branch', async () => {
    const repository = folders.repository({ 'a.txt': 'one\n' });
    const start = await versions.onboardRepo(repository.path);
    const fixed = await versions.historyOf(start).commitTree(start, { message: 'x', parents: [start] });
    repository.git('config', 'core.bare', 'true');
    repository.git('update-ref', 'HEAD', bomb(repository, hasFile, [start]));
    const merge = versions.executeMerge(join(repository.path, '.git'), fixed);
    await expect(merge).rejects.toMatchObject(tooLarge);
  });
});

describe('a folder with more entries than maxEntries', () => {
  it.each(['files', 'directories'])('is not onboarded if they are %s', async (kind) => {
    await using few = new HostHistory({ maxEntries: 10 });
    const folder = folders.folder();
    const add = (i: number): void => {
      if (kind === 'files') writeFileSync(join(folder, `${i}`), 'x');
      else mkdirSync(join(folder, `${i}`));
    };
    for (let i = 0; i < 10; i++) add(i);
    await few.onboardRepo(folder);
    add(10);
    await expect(few.onboardRepo(folder)).rejects.toMatchObject(tooLarge);
    await expect(few.createSnapshot(folder, undefined, 'x')).rejects.toMatchObject(tooLarge);
  });
});
