import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Limits, openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import type { SandboxConfig } from '@scratchfs/sandbox';
import { dump } from '@scratchfs/testkit';
import { describe, expect, it } from 'vitest';
import { hostFileSystem } from '../host-file-system.js';
import { bringBackAfter } from '../testing/bring-back-after.js';
import type { BroughtBack } from './bring-back.js';

const WHOLE: SandboxConfig = { root: { root: '/' } };
const NOTHING = { added: [], removed: [], changed: [], addedDirectories: [], removedDirectories: [] };

const inMemory = (files: Record<string, string>, limits: Limits = {}) =>
  openFileSystem(new MemoryStorage(), { files, limits });

const pathsOf = ({ refused }: BroughtBack): string[] => refused.map(({ path }) => path).sort();

describe('bringBack()', () => {
  const onlyMarkdown: SandboxConfig = { paths: { n: { root: '/n', mode: 'rw', suffixes: ['.md'] } } };

  const toText = 'mv n/a.md n/a.txt';
  const overIt = `${toText}; mv n/b.md n/a.md`;
  it.each([
    ['was renamed to a name that was refused', toText, []],
    ['was written over when it had been saved under such a name', overIt, ['n/b.md']],
    ['began a row of renames', `${overIt}; mv n/d/c.md n/b.md; rmdir n/d`, ['n/b.md', 'n/d', 'n/d/c.md']],
  ])('leaves a file that %s, with other content that was moved', async (_, script, others) => {
    const fs = await inMemory({ '/n/a.md': 'a', '/n/b.md': 'bb', '/n/d/c.md': 'ccc' }, { maxCheckpoints: 0 });
    const before = await dump(fs);
    const result = await bringBackAfter(script, fs, onlyMarkdown);
    expect(result.changes).toEqual(NOTHING);
    expect(pathsOf(result)).toEqual(['n/a.md', 'n/a.txt', ...others]);
    expect(await dump(fs)).toEqual(before);
    expect(result.refused.find(({ path }) => path === 'n/a.md')?.reason).toMatch(/'n\/a\.md' -> 'n\/a\.txt'.*stays/);
  });

  it.each([
    ['has an impossible name', "mv n/d 'n/x\\y'"],
    ['has a name that is not UTF-8', 'mv n/d "$(printf \'\\377\')"'],
    ['has too long a path', `top=$PWD; ${'n=$(printf %0200d 0); mkdir $n; cd $n; '.repeat(20)} mv $top/n/d $n`],
  ])('leaves content that was moved to a path that %s', async (_, script) => {
    const fs = await inMemory({ '/n/b.md': 'bb', '/n/d/a.md': 'a' });
    await fs.symlink('a.md', '/n/d/l');
    const result = await bringBackAfter(`rm n/b.md; ${script}`, fs);
    expect(result.changes).toMatchObject({ removed: ['/n/b.md'], removedDirectories: [] });
    expect(pathsOf(result)).toEqual(expect.arrayContaining(['/n/d', '/n/d/a.md', '/n/d/l']));
    expect(await fs.readText('/n/d/l')).toBe('a');
  });

  it('removes a file from its old path if only a second copy of it was refused', async () => {
    const fs = await inMemory({ '/n/a.md': 'a' });
    const result = await bringBackAfter('cp n/a.md n/b.md; mv n/a.md n/a.txt', fs, onlyMarkdown);
    expect(result.changes).toEqual({ ...NOTHING, added: ['n/b.md'], removed: ['n/a.md'] });
    expect(pathsOf(result)).toEqual(['n/a.txt']);
  });

  it.each([
    [600, 10],
    [10, 600],
  ])('brings back a swap of files of %d and %d bytes without space for two copies', async (a, b) => {
    const fs = await inMemory({ '/a': 'a'.repeat(a), '/b': 'b'.repeat(b) }, { maxTotalSize: 620 });
    const { changes, refused } = await bringBackAfter('mv a t; mv b a; mv t b', fs);
    expect({ changes, refused }).toEqual({ changes: { ...NOTHING, changed: ['/a', '/b'] }, refused: [] });
    expect((await fs.stat('/a')).size).toBe(b);
  });

  it('loses nothing if content that has to stay leaves no space for other changes', async () => {
    const files = { '/n/a.md': 'a'.repeat(600), '/n/b.md': 'b'.repeat(500) };
    const fs = await inMemory(files, { maxTotalSize: 1_200 });
    const before = await dump(fs);
    const script = 'mv n/a.md n/a.txt; mv n/b.md n/c.md; head -c 550 /dev/zero >n/b.md';
    const result = await bringBackAfter(script, fs, onlyMarkdown);
    expect(result).toMatchObject({ changes: NOTHING, checkpoint: undefined });
    expect(pathsOf(result)).toEqual(['n/a.md', 'n/a.txt', 'n/b.md', 'n/c.md']);
    expect(await dump(fs)).toEqual(before);
    expect(await fs.checkpoints()).toEqual([]);
  });

  it('accepts paths that are already as the command left them', async () => {
    const fs = await inMemory({ '/a': 'one', '/x': 'x', '/gone': 'gone' });
    await fs.link('/a', '/b');
    const { changes, refused } = await bringBackAfter(
      'echo two >a; echo two >b; rm gone; mkdir d; echo y >x',
      fs,
      WHOLE,
      async () => {
        await fs.rm('/gone');
        await fs.mkdir('/d');
      },
    );
    expect(refused).toEqual([]);
    expect(changes).toMatchObject({ changed: ['/a', '/b', '/x'], removed: ['/gone'], addedDirectories: ['/d'] });
    expect(await fs.readText('/a')).toBe('two\n');
    expect((await fs.stat('/a')).nlink).toBe(2);
  });

  it('follows no link that has concurrently replaced a directory of the command', async () => {
    const fs = await inMemory({ '/d/sub/x': 'one', '/d/y': 'y', '/f/sub/x': 'one', '/f/y': 'y' });
    await fs.symlink('f', '/was-link');
    const script = 'echo two >d/sub/x; echo new >d/new; rm d/y; rm was-link; mkdir was-link; echo 1 >was-link/new';
    const result = await bringBackAfter(script, fs, WHOLE, async () => {
      await fs.rm('/d', { recursive: true });
      await fs.symlink('f', '/d');
      await fs.rm('/was-link');
      await fs.symlink('d', '/was-link');
    });
    expect(result).toMatchObject({ changes: NOTHING, checkpoint: undefined });
    const expected = ['/d/new', '/d/sub/x', '/d/y', '/was-link', '/was-link', '/was-link/new'];
    expect(pathsOf(result)).toEqual(expected);
    expect(await fs.checkpoints()).toEqual([]);
    expect(await fs.readdir('/f')).toEqual(['sub', 'y']);
    expect(await fs.readText('/f/sub/x')).toBe('one');
  });

  it('leaves a file on disk unchanged if it was renamed to a name that was refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'scratchfs-bring-back-'));
    try {
      const path = join(folder, 'a.md');
      writeFileSync(path, 'a');
      chmodSync(path, 0o640);
      utimesSync(path, 1_000, 1_000);
      const config: SandboxConfig = { root: { root: '/', suffixes: ['.md'] } };
      const result = await bringBackAfter('mv a.md a.txt; echo b >b.md', hostFileSystem(folder), config);
      expect(result.changes).toEqual({ ...NOTHING, added: ['/b.md'] });
      expect(pathsOf(result)).toEqual(['/a.md', '/a.txt']);
      expect(readFileSync(path, 'utf8')).toBe('a');
      const { mode, mtimeMs } = statSync(path);
      expect({ mode: mode & 0o777, mtimeMs }).toEqual({ mode: 0o640, mtimeMs: 1_000_000 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
