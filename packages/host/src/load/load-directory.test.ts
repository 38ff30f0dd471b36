import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openInMemory, type SyncFileSystem } from '@scratchfs/core';
import { diff } from '@scratchfs/core/diff';
import { readonly } from '@scratchfs/core/layers';
import { createSnapshotSync } from '@scratchfs/core/snapshot';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { applyChanges } from '../apply/apply-changes.js';
import { hostFileSystem } from '../host-file-system.js';
import { loadDirectory } from './load-directory.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-load-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let n = 0;
let root = '';
beforeEach(() => {
  root = join(top, `root-${++n}`);
  mkdirSync(root);
});

function write(path: string, content: string | Uint8Array = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

const git = (...args: string[]): string =>
  execFileSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  });

const filesOf = (fs: SyncFileSystem): string[] =>
  [...fs.walkSync('/')].filter(({ isDirectory }) => !isDirectory).map(({ path }) => path.slice(1));

describe('loadDirectory()', () => {
  it('copies files, directories and links with modes and times, and follows no link', async () => {
    write('a.txt', 'one\n');
    write(
      'src/b.bin',
      new Uint8Array(200_000).map((_, i) => i),
    );
    mkdirSync(join(root, 'empty'));
    chmodSync(join(root, 'src/b.bin'), 0o750);
    chmodSync(join(root, 'empty'), 0o700);
    symlinkSync('../a.txt', join(root, 'src/inside'));
    symlinkSync(join(root, 'src'), join(root, 'absolute'));
    symlinkSync('/etc/passwd', join(root, 'outside'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    write('.git/HEAD', 'ref: x');
    write('__proto__/constructor', 'x');
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x62, 0xff])]), '');
    for (const [i, path] of ['a.txt', 'src/b.bin', 'src', 'empty'].entries())
      utimesSync(join(root, path), 1_000, 1_700_000_000 + i);
    const { fileSystem: fs, leftOut, ...counts } = await loadDirectory(root);
    expect(counts).toEqual({ files: 3, directories: 3, symlinks: 3, bytes: 200_005 });
    expect(fs.readTextSync('/a.txt')).toBe('one\n');
    expect(Buffer.from(fs.readFileSync('/src/b.bin')).equals(readFileSync(join(root, 'src/b.bin')))).toBe(true);
    for (const path of ['/a.txt', '/src/b.bin', '/src', '/empty', '/src/inside']) {
      const [ours, theirs] = [fs.lstatSync(path), lstatSync(join(root, path))];
      expect([ours.mode, ours.mtimeMs], path).toEqual([theirs.mode, Math.floor(theirs.mtimeMs)]);
    }
    expect(['/src/inside', '/absolute', '/outside'].map((path) => fs.readlinkSync(path))).toEqual([
      '../a.txt',
      '/src',
      '/etc/passwd',
    ]);
    expect(fs.readTextSync('/absolute/inside')).toBe('one\n');
    expect(fs.existsSync('/outside')).toBe(false);
    expect(leftOut).toEqual({
      ignored: { count: 0, first: [] },
      git: { count: 1, first: ['/.git'] },
      name: { count: 1, first: ['/b\ufffd'] },
      special: { count: 1, first: ['/pipe'] },
      unreadable: { count: 0, first: [] },
    });
  });

  it('obeys .gitignore files exactly as git does, whatever stands in them', async () => {
    git('init', '-q');
    const rules = [
      '# comment',
      '\\#literal',
      '*.log',
      '!keep.log',
      '/anchored',
      'build/',
      '!build/keep',
      'a/**/z',
      '**/cache',
      'deep/**',
      '!deep/keep/',
      'trailing   ',
      'escaped\\ ',
      'qu?stion',
      '[a-c]range',
      '[!a]not',
      '\\!bang',
      'UPPER',
      '*.tmp*',
      '!/important.tmp',
      'middle/only',
      'foo/*',
      '!foo/bar',
      'café',
      '\\\\back',
    ];
    write('.gitignore', `\ufeff${rules.join('\n')}\r\ncrlf\r\n`);
    write('sub/.gitignore', '!*.log\n/local\n');
    write('sub/inner/.gitignore', '*\n!.gitignore\n!yes\n');
    mkdirSync(join(root, '.git/info'), { recursive: true });
    writeFileSync(join(root, '.git/info/exclude'), 'excluded\n');
    const names = [
      ...['#literal', 'x.log', 'keep.log', 'anchored', 'sub/anchored', 'build/x', 'build/keep', 'sub/build', 'a/z'],
      ...['a/b/z', 'a/b/c/z', 'cache', 'sub/cache/x', 'deep/x', 'deep/keep/y', 'trailing', 'escaped ', 'question'],
      ...['quuestion', 'arange', 'drange', 'bnot', 'anot', '!bang', 'upper', 'UPPER', 'x.tmp', 'important.tmp'],
      ...['sub/important.tmp', 'middle/only', 'sub/middle/only', 'foo/bar/x', 'foo/baz', 'crlf', 'sub/x.log'],
      ...['sub/local', 'sub/deeper/local', 'sub/inner/no', 'sub/inner/yes', 'sub/inner/d/yes', 'excluded', 'café'],
      ...['tracked/x.log', 'build/tracked', '.hidden', 'node_modules/x/y.js'],
    ];
    for (const name of names) write(name, name);
    git('add', '-f', 'tracked/x.log', 'build/tracked');
    const expected = git('ls-files', '-z', '-co', '--exclude-standard').split('\0').filter(Boolean).sort();
    const { fileSystem, leftOut } = await loadDirectory(root, { gitignore: true });
    expect(filesOf(fileSystem).sort()).toEqual(expected);
    expect(expected.length).toBeLessThan(names.length);
    expect(expected).toContain('build/tracked');
    expect(leftOut.ignored.count).toBeGreaterThan(10);
  });

  it('obeys the rules of each repository: around the directory, in it, and of a folder that has none', async () => {
    write('.gitignore', 'dist\n');
    write('package/dist/x');
    write('package/nested/.gitignore', 'out\n');
    write('package/nested/out/y');
    write('package/nested/dist/z');
    write('package/a.ts');
    const load = async (path: string) => {
      const { fileSystem } = await loadDirectory(join(root, path), { gitignore: true });
      return filesOf(fileSystem).filter((name) => !name.endsWith('.gitignore'));
    };
    expect(await load('.')).toEqual(['package/a.ts']);
    git('init', '-q');
    git('init', '-q', 'package/nested');
    expect(await load('.')).toEqual(['package/a.ts', 'package/nested/dist/z']);
    expect(await load('package')).toEqual(['a.ts', 'nested/dist/z']);
    // A directory that the repository around it ignores is not a part of it.
    expect(await load('package/dist')).toEqual(['x']);
  });

  it('leaves out what globs match, and keeps to limits that say how to raise them', async () => {
    for (const path of ['a.ts', 'node_modules/x/y.js', 'src/node_modules/z', '.cache/x.log', 'src/y.log'])
      write(path, '0123456789');
    const { fileSystem, leftOut } = await loadDirectory(root, { ignore: ['**/node_modules', '/**/*.log'] });
    expect(filesOf(fileSystem)).toEqual(['a.ts']);
    expect(leftOut.ignored).toEqual({
      count: 4,
      first: ['/.cache/x.log', '/node_modules', '/src/node_modules', '/src/y.log'],
    });
    for (const limit of ['maxEntries', 'maxBytes'] as const) {
      const failure = expect(loadDirectory(root, { [limit]: limit === 'maxBytes' ? 49 : 9 })).rejects;
      await failure.toMatchObject({ code: 'EFBIG', limit, message: expect.stringMatching(/raise it, or leave/) });
    }
    expect(await loadDirectory(root, { maxEntries: 10, maxBytes: 50 })).toMatchObject({ files: 5, directories: 5 });
  });

  it('fills a given filesystem, reports progress and stops with the signal', async () => {
    for (let i = 0; i < 1_200; i++) write(`d${i % 7}/f${i}`, String(i));
    const into = openInMemory({ files: { '/kept': 'kept' } });
    const progress: number[] = [];
    const onProgress = ({ files }: { files: number }) => void progress.push(files);
    const result = await loadDirectory(root, { into, onProgress });
    expect(result.fileSystem).toBe(into);
    expect(into.readTextSync('/d3/f3')).toBe('3');
    expect(into.readTextSync('/kept')).toBe('kept');
    expect(progress.length).toBeGreaterThan(2);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(progress.at(-1)).toBe(1_200);
    const controller = new AbortController();
    const abort = () => controller.abort(new Error('enough'));
    await expect(loadDirectory(root, { onProgress: abort, signal: controller.signal })).rejects.toThrow('enough');
    await expect(loadDirectory(root, { into: readonly(into) })).rejects.toMatchObject({ code: 'EROFS' });
  });

  it('leaves nothing to apply if nothing was changed, and applies what was', async () => {
    write('a/b', 'b');
    symlinkSync(join(root, 'a'), join(root, 'absolute'));
    chmodSync(join(root, 'a/b'), 0o4755);
    const { fileSystem: fs } = await loadDirectory(root);
    const before = fs.checkpointSync();
    const snapshot = createSnapshotSync(fs);
    expect(await diff(fs, before)).toEqual({ added: [], removed: [], changed: [] });
    fs.rmSync('/a', { recursive: true });
    fs.unlinkSync('/absolute');
    fs.writeFileSync('/c', 'c');
    const changes = await diff(fs, before, undefined, { contents: true });
    expect(await applyChanges(changes, root)).toMatchObject({
      success: true,
      applied: ['/a', '/a/b', '/absolute', '/c'],
    });
    expect(readdirSync(root)).toEqual(['c']);
    expect(snapshot.length).toBeGreaterThan(0);
  });

  it('refuses directories and options of a wrong kind', async () => {
    write('file');
    await expect(loadDirectory(join(root, 'nowhere'))).rejects.toMatchObject({ code: 'ENOENT', path: '/' });
    await expect(loadDirectory(join(root, 'file'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(loadDirectory('')).rejects.toThrow(TypeError);
    const wrong = [{ into: {} }, { ignore: 1 }, { ignore: [1] }, { gitignore: 'yes' }, { maxBytes: '1' }, { x: 1 }];
    for (const options of wrong) await expect(loadDirectory(root, options as object)).rejects.toThrow(TypeError);
    await expect(loadDirectory(root, { maxEntries: -1 })).rejects.toThrow(RangeError);
    await using disk = hostFileSystem(root);
    expect(await disk.readdir('/')).toEqual(['file']);
  });
});
