import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { recoverMerge } from '../merge/execute-merge.js';
import { stateOf } from '../testing/repository-state.js';
import { SampleFolders } from '../testing/sample-repository.js';
import { HostHistory } from './host-history.js';

const folders = new SampleFolders();
afterAll(() => folders.remove());
let versions: HostHistory;
let start: string;
beforeEach(async () => {
  versions = new HostHistory();
  start = await versions.onboardRepo(folders.repository().path);
});
afterEach(() => versions.close());

describe('checkoutSnapshot()', () => {
  it.each([
    ['a bare repository', (path: string) => folders.repository().git('clone', '-q', '--bare', '.', path), ''],
    ['the directory of a repository', (path: string) => folders.repository({}).git('init', '-q', path), '.git'],
    ['what lies in one', (path: string) => folders.repository({}).git('init', '-q', path), '.git/hooks'],
  ])('empties %s only with force', async (_what, make, at) => {
    const folder = folders.folder();
    make(folder);
    const [target, before] = [join(folder, at), readdirSync(join(folder, at))];
    expect(before.length).toBeGreaterThan(0);
    await expect(versions.checkoutSnapshot(start, target)).rejects.toThrow(TypeError);
    expect(readdirSync(target)).toEqual(before);
    await versions.checkoutSnapshot(start, target, { force: true });
    expect(readdirSync(target)).toContain('a.txt');
    expect(readdirSync(target).filter((name) => before.includes(name) && /HEAD|config|sample/.test(name))).toEqual([]);
  });

  it('leaves a directory alone whose repository lies on an unmounted disk', async () => {
    const repository = folders.repository({ mine: 'm' });
    const disk = folders.folder();
    renameSync(join(repository.path, '.git'), join(disk, 'git'));
    symlinkSync(join(disk, 'git'), join(repository.path, '.git'));
    renameSync(join(disk, 'git'), join(disk, 'away'));
    await expect(versions.checkoutSnapshot(start, repository.path)).rejects.toThrow(/repository of its own/);
    expect(readdirSync(repository.path).sort()).toEqual(['.git', 'mine']);
  });

  it.each([
    ['that is not UTF-8', Buffer.from('caf\xe9', 'latin1')],
    ['that scratchfs cannot represent', Buffer.from('a\\b')],
  ])('removes a repository under a name %s only with force', async (_what, name) => {
    const folder = folders.folder();
    const inside = Buffer.concat([Buffer.from(`${folder}/`), name]);
    mkdirSync(Buffer.concat([inside, Buffer.from('/deep/.git')]), { recursive: true });
    await expect(versions.checkoutSnapshot(start, folder)).rejects.toThrow(/Repositories lie in the directory/);
    expect(existsSync(inside)).toBe(true);
    await versions.checkoutSnapshot(start, folder, { force: true });
    expect(readdirSync(folder)).toEqual(['a.txt']);
  });

  it('removes nested repositories only with force', async () => {
    const top = folders.folder();
    folders.repository({}).git('init', '-q', join(top, 'deep/one'));
    folders.repository({}).git('init', '-q', '--bare', join(top, 'two'));
    writeFileSync(join(top, 'other'), 'x');
    await expect(versions.checkoutSnapshot(start, top)).rejects.toThrow(/'deep\/one', 'two'/);
    expect(readdirSync(top).sort()).toEqual(['deep', 'other', 'two']);
    expect(existsSync(join(top, 'deep/one/.git/HEAD'))).toBe(true);
    await versions.checkoutSnapshot(start, top, { force: true });
    expect(readdirSync(top, { recursive: true }).filter((path) => /HEAD|other|\.git/.test(String(path)))).toEqual([]);
  });

  it('fills a directory repeatedly with a version that contains what looks like a repository', async () => {
    const look = folders.repository({ 'r/HEAD': 'x', 'r/objects/x': 'x', 'r/refs/x': 'x', HEAD: 'x' });
    const version = await versions.onboardRepo(look.path);
    const work = folders.folder();
    await versions.checkoutSnapshot(version, work);
    writeFileSync(join(work, 'r/HEAD'), 'changed');
    await versions.checkoutSnapshot(version, work);
    expect(readdirSync(join(work, 'r'))).toEqual(['HEAD', 'objects', 'refs']);
  });
});

it('an empty path is refused', async () => {
  const folder = folders.folder();
  mkdirSync(join(folder, 'precious'));
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
  try {
    for (const call of [
      () => versions.onboardRepo(''),
      () => versions.createSnapshot('', start, 'none'),
      () => versions.checkoutSnapshot(start, ''),
      () => versions.rollback(start, '', { force: true }),
      () => versions.executeMerge('', start),
      () => recoverMerge(''),
    ])
      await expect(call()).rejects.toThrow(/path of the directory must not be empty/);
  } finally {
    cwd.mockRestore();
  }
  expect(readdirSync(folder)).toEqual(['precious']);
});

it('a repository may lie at a path with line ends', async () => {
  const top = join(folders.folder(), 'a\nb\n');
  mkdirSync(top);
  const source = folders.repository();
  source.git('clone', '-q', '.', top);
  const version = await versions.onboardRepo(top);
  const work = folders.folder();
  await versions.checkoutSnapshot(version, work);
  writeFileSync(join(work, 'new.txt'), 'new\n');
  const next = await versions.createSnapshot(work, version, 'next');
  expect(await versions.executeMerge(top, next)).toMatchObject({ success: true });
  expect(stateOf(top)['new.txt']).toBeDefined();
});
