import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openInMemory } from '@scratchfs/core';
import { diff } from '@scratchfs/core/diff';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { applyChanges, recoverDirectory } from './apply-changes.js';
import type { PathChange } from './path-change.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-apply-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let n = 0;
let root = '';

beforeEach(() => {
  root = join(top, `root-${++n}`);
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  writeFileSync(join(root, 'a.txt'), 'one\n');
  writeFileSync(join(root, 'src/b.ts'), 'let x = 1;\n', { mode: 0o755 });
  writeFileSync(join(root, 'src/deep/c.ts'), 'let y = 2;\n');
  symlinkSync('a.txt', join(root, 'link'));
});

const file = (data: string, mode?: number) => ({ kind: 'file', data, mode }) as const;
const directory = { kind: 'directory' } as const;

/** Returns paths, kinds, modes, contents and targets of everything in a directory. */
function dump(at = root): string[] {
  return readdirSync(at, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const stat = lstatSync(join(at, name));
      if (stat.isSymbolicLink()) return `${name} -> ${readlinkSync(join(at, name))}`;
      const mode = (stat.mode & 0o7777).toString(8);
      return stat.isDirectory() ? `${name}/ ${mode}` : `${name} ${mode} ${readFileSync(join(at, name), 'utf8')}`;
    });
}

describe('applyChanges()', () => {
  it('writes the changes of a checkpoint diff: files, modes, links, directories, and changes of kind', async () => {
    const fs = openInMemory();
    fs.mkdirSync('/src/deep', { recursive: true });
    fs.writeFileSync('/a.txt', 'one\n');
    fs.writeFileSync('/src/b.ts', 'let x = 1;\n', { mode: 0o755 });
    fs.writeFileSync('/src/deep/c.ts', 'let y = 2;\n');
    fs.symlinkSync('a.txt', '/link');
    const before = fs.checkpointSync();
    fs.writeFileSync('/a.txt', 'ONE\n');
    fs.chmodSync('/src/b.ts', 0o644);
    fs.rmSync('/src/deep', { recursive: true });
    fs.writeFileSync('/src/deep', 'now a file');
    fs.unlinkSync('/link');
    fs.mkdirSync('/link/inner', { recursive: true });
    fs.writeFileSync('/link/inner/file', 'new', { mode: 0o600 });
    fs.mkdirSync('/empty', { mode: 0o700 });
    fs.symlinkSync('../a.txt', '/src/up');
    fs.writeFileSync('/.envrc', 'export A=1\n');
    const changes = await diff(fs, before, undefined, { contents: true });
    const result = await applyChanges(changes, root);
    expect(result).toEqual({
      success: true,
      applied: [
        '/.envrc',
        '/a.txt',
        '/empty',
        '/link',
        '/link/inner',
        '/link/inner/file',
        '/src/b.ts',
        '/src/deep',
        '/src/deep/c.ts',
        '/src/up',
      ],
      unchanged: [],
      conflicts: [],
      skipped: [],
      autoRun: ['/.envrc'],
      kept: [],
    });
    expect(dump()).toEqual([
      '.envrc 644 export A=1\n',
      'a.txt 644 ONE\n',
      'empty/ 700',
      'link/ 755',
      'link/inner/ 755',
      'link/inner/file 600 new',
      'src/ 755',
      'src/b.ts 644 let x = 1;\n',
      'src/deep 644 now a file',
      'src/up -> ../a.txt',
    ]);
    // Once more: everything is there already.
    const again = await applyChanges(changes, root);
    expect(again).toMatchObject({ success: true, applied: [], conflicts: [] });
    expect(again.unchanged).toHaveLength(10);
    expect(await recoverDirectory(root)).toEqual({ outcome: 'nothing', kept: [] });
  });

  it.each<[string, PathChange, () => void, string]>([
    [
      'an edited file',
      { path: '/a.txt', before: file('one\n'), after: file('ONE\n') },
      () => writeFileSync(join(root, 'a.txt'), 'two\n'),
      'changed',
    ],
    [
      'an edited file that the change removes',
      { path: '/a.txt', before: file('one\n') },
      () => writeFileSync(join(root, 'a.txt'), 'one'),
      'changed',
    ],
    [
      'a file with another mode',
      { path: '/a.txt', before: file('one\n', 0o644), after: file('ONE\n') },
      () => chmodSync(join(root, 'a.txt'), 0o600),
      'changed',
    ],
    [
      'a link in place of a file',
      { path: '/a.txt', before: file('one\n'), after: file('ONE\n') },
      () => {
        rmSync(join(root, 'a.txt'));
        symlinkSync('src/b.ts', join(root, 'a.txt'));
      },
      'changed',
    ],
    [
      'a link with another target',
      { path: '/link', before: { kind: 'symlink', target: 'a.txt' }, after: { kind: 'symlink', target: 'src' } },
      () => {
        rmSync(join(root, 'link'));
        symlinkSync('src/b.ts', join(root, 'link'));
      },
      'changed',
    ],
    [
      'a removed file',
      { path: '/a.txt', before: file('one\n'), after: file('ONE\n') },
      () => rmSync(join(root, 'a.txt')),
      'missing',
    ],
    ['an existing file', { path: '/a.txt', after: file('ONE\n') }, () => undefined, 'exists'],
  ])('finds %s to be a conflict, which is returned, skipped or overwritten', async (_, change, edit, code) => {
    const other: PathChange = { path: '/new.txt', after: file('new') };
    edit();
    const before = dump();
    const conflicts = [{ path: change.path, code }];
    for (const dryRun of [true, false])
      expect(await applyChanges([change, other], root, { dryRun })).toMatchObject({
        success: false,
        applied: [],
        conflicts,
        skipped: [change.path],
      });
    expect(dump()).toEqual(before);
    const skipped = { success: true, applied: ['/new.txt'], conflicts, skipped: [change.path] };
    expect(await applyChanges([change, other], root, { onConflict: 'skip', dryRun: true })).toMatchObject(skipped);
    expect(dump()).toEqual(before);
    expect(await applyChanges([change, other], root, { onConflict: 'skip' })).toMatchObject(skipped);
    expect(dump()).toEqual([...before, 'new.txt 644 new'].sort());
    const overwritten = await applyChanges([change], root, { onConflict: 'overwrite' });
    expect(overwritten).toMatchObject({ success: true, applied: [change.path], conflicts, skipped: [] });
    expect(await applyChanges([change], root)).toMatchObject({ success: true, unchanged: [change.path] });
  });

  it.each<[string, readonly PathChange[], () => void, { path: string; code: string }]>([
    [
      'a directory that holds something new',
      [
        { path: '/src/deep', before: directory },
        { path: '/src/deep/c.ts', before: file('let y = 2;\n') },
      ],
      () => writeFileSync(join(root, 'src/deep/mine'), ''),
      { path: '/src/deep', code: 'not-empty' },
    ],
    [
      'a new file under a file',
      [{ path: '/a.txt/x', after: file('') }],
      () => undefined,
      { path: '/a.txt/x', code: 'not-a-directory' },
    ],
    [
      'a new file under a link to a directory',
      [{ path: '/src/deep/x', after: file('') }],
      () => {
        rmSync(join(root, 'src/deep'), { recursive: true });
        mkdirSync(join(root, 'other'));
        symlinkSync('../other', join(root, 'src/deep'));
      },
      { path: '/src/deep/x', code: 'not-a-directory' },
    ],
    [
      'a pipe',
      [{ path: '/pipe', after: file('') }],
      () => execFileSync('mkfifo', [join(root, 'pipe')]),
      { path: '/pipe', code: 'special' },
    ],
  ])('never overwrites %s', async (_, changes, edit, conflict) => {
    edit();
    const list = () => readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
    const before = list();
    for (const onConflict of ['fail', 'overwrite'] as const)
      expect(await applyChanges(changes, root, { onConflict })).toMatchObject({
        success: false,
        conflicts: [conflict],
      });
    expect(list()).toEqual(before);
    expect(await applyChanges(changes, root, { onConflict: 'skip' })).toMatchObject({
      success: true,
      conflicts: [conflict],
    });
  });

  it('compares by SHA-256 if a change has no old content', async () => {
    const sha256 = execFileSync('sha256sum', [join(root, 'a.txt')], { encoding: 'utf8' }).slice(0, 64);
    const change = (digest: string): PathChange => ({
      path: '/a.txt',
      before: { kind: 'file', sha256: digest },
      after: file('ONE\n'),
    });
    expect(await applyChanges([change('0'.repeat(64))], root)).toMatchObject({ success: false });
    expect(await applyChanges([change(sha256)], root)).toMatchObject({ success: true });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ONE\n');
  });

  it('creates missing directories, keeps the mode of a replaced file and breaks its hard links', async () => {
    linkSync(join(root, 'src/b.ts'), join(root, 'second'));
    const changes: PathChange[] = [
      { path: '/x/y/z', after: file('z') },
      { path: '/src/b.ts', before: file('let x = 1;\n'), after: file('let x = 2;\n') },
    ];
    expect(await applyChanges(changes, root)).toMatchObject({ success: true, applied: ['/src/b.ts', '/x/y/z'] });
    expect(readFileSync(join(root, 'x/y/z'), 'utf8')).toBe('z');
    expect(readFileSync(join(root, 'second'), 'utf8')).toBe('let x = 1;\n');
    expect(statSync(join(root, 'src/b.ts')).mode & 0o777).toBe(0o755);
    expect(statSync(join(root, 'src/b.ts')).nlink).toBe(1);
    expect(readdirSync(root)).not.toContainEqual(expect.stringMatching(/^\.scratchfs/));
  });

  it('takes names like __proto__ for names', async () => {
    const names = ['__proto__', 'constructor', '-rf', ' ', 'ö', '\u{10ffff}', 'x'.repeat(255)];
    const changes = names.map((name) => ({ path: `/${name}`, after: file(name) }));
    expect(await applyChanges(changes, root)).toMatchObject({ success: true });
    for (const name of names) expect(readFileSync(join(root, name), 'utf8')).toBe(name);
  });

  it.each<[string, readonly PathChange[], object]>([
    ['a file in .git', [{ path: '/.git/hooks/pre-commit', after: file('') }], { code: 'EACCES' }],
    ['a spelling of .git', [{ path: '/src/.GIT', after: directory }], { code: 'EACCES' }],
    [
      'a link that leads out',
      [{ path: '/src/out', after: { kind: 'symlink', target: '../../x' } }],
      { code: 'EACCES' },
    ],
    ['an absolute link', [{ path: '/out', after: { kind: 'symlink', target: '/etc' } }], { code: 'EACCES' }],
    ['a reserved name', [{ path: '/.scratchfs-tmp-journal/x', after: file('') }], { code: 'EACCES' }],
    ['a name of 300 bytes', [{ path: `/${'x'.repeat(300)}`, after: file('') }], { code: 'ENAMETOOLONG' }],
    ['a lone surrogate', [{ path: '/\ud800', after: file('') }], { code: 'EINVAL' }],
    ['a NUL', [{ path: '/a\0b', after: file('') }], { name: 'TypeError' }],
    ['the directory itself', [{ path: '/', after: directory }], { name: 'TypeError' }],
    ['a change of nothing', [{ path: '/x' }], { name: 'TypeError' }],
    ['a file without content', [{ path: '/x', after: { kind: 'file' } }], { name: 'TypeError' }],
    [
      'a path given twice',
      [
        { path: '/x', after: file('') },
        { path: '/./x', after: file('') },
      ],
      { name: 'TypeError' },
    ],
  ])('refuses %s and changes nothing', async (_, changes, error) => {
    const before = dump();
    await expect(applyChanges([{ path: '/first', after: file('') }, ...changes], root)).rejects.toMatchObject(error);
    expect(dump()).toEqual(before);
  });

  it('refuses options and diffs of a wrong kind', async () => {
    const fs = openInMemory();
    const before = fs.checkpointSync();
    fs.writeFileSync('/x', 'x');
    await expect(applyChanges(await diff(fs, before), root)).rejects.toThrow('make the diff with `contents: true`');
    const wrong = [{ onConflict: 'ask' }, { dryRun: 'yes' }, { force: true }] as object[];
    for (const options of wrong) await expect(applyChanges([], root, options)).rejects.toThrow(TypeError);
    await expect(applyChanges({} as never, root)).rejects.toThrow(TypeError);
    await expect(applyChanges([], '')).rejects.toThrow(TypeError);
    await expect(applyChanges([], join(root, 'nowhere'))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(applyChanges([], root, { signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop');
  });

  it('follows no link on the way, not even one that appears in between', async () => {
    mkdirSync(join(top, 'outside'), { recursive: true });
    rmSync(join(root, 'src'), { recursive: true });
    symlinkSync('../outside', join(root, 'src'));
    const changes: PathChange[] = [{ path: '/src/new', after: file('new') }];
    for (const onConflict of ['fail', 'skip', 'overwrite'] as const) await applyChanges(changes, root, { onConflict });
    expect(readdirSync(join(top, 'outside'))).toEqual([]);
  });

  it('makes changes of concurrent calls one after the other', async () => {
    const counters = Array.from({ length: 8 }, (_, i) => [
      { path: `/n${i}`, after: file('') },
      { path: '/last', after: file(`${i}`) },
    ]);
    const results = await Promise.all(counters.map((changes) => applyChanges(changes, root)));
    expect(results.filter(({ success }) => success)).toHaveLength(1);
    expect(readdirSync(root).filter((name) => /^n\d$/.test(name))).toHaveLength(1);
  });

  it('reports links in place of directories that programs obey', async () => {
    const link = (path: string, target: string): PathChange => ({ path, after: { kind: 'symlink', target } });
    const run = [link('/.GitHub', 'x'), link('/.vscode', 'x'), link('/src/to', '../.husky/_')];
    const changes = [...run, link('/src/x', 'deep'), { path: '/x/tasks.json', after: file('{}') }];
    const { autoRun } = await applyChanges(changes, root);
    expect(autoRun).toEqual(['/.GitHub', '/.vscode', '/src/to', '/x/tasks.json']);
  });

  it('reports files that links on the disk and among the changes make reachable', async () => {
    const link = (path: string, target: string): PathChange => ({ path, after: { kind: 'symlink', target } });
    for (const directory of ['.git/hooks', 'sub/.husky', 'conf']) mkdirSync(join(root, directory), { recursive: true });
    symlinkSync('../../scripts/check', join(root, '.git/hooks/pre-commit'));
    symlinkSync('../lib', join(root, 'sub/.husky/_'));
    symlinkSync(join(root, 'conf'), join(root, '.vscode'));
    symlinkSync('conf', join(root, '.idea'));
    const files = ['/conf/tasks.json', '/scripts/check', '/sub/lib/x', '/env/a', '/sub/other'];
    const changes = [...files.map((path): PathChange => ({ path, after: file('x') })), link('/src/.envrc', '../env/a')];
    const expected = ['/conf/tasks.json', '/env/a', '/scripts/check', '/src/.envrc', '/sub/lib/x'];
    expect((await applyChanges(changes, root, { dryRun: true })).autoRun).toEqual(expected);
    expect((await applyChanges(changes, root)).autoRun).toEqual(expected);
    const moved: PathChange[] = [
      { path: '/.vscode', before: { kind: 'symlink', target: '/conf' } },
      { path: '/.idea', before: { kind: 'symlink', target: 'conf' }, after: { kind: 'symlink', target: 'ide' } },
      { path: '/conf/tasks.json', after: file('y') },
    ];
    const { autoRun } = await applyChanges(moved, root, { onConflict: 'overwrite' });
    expect(autoRun).toEqual(['/.idea']);
  });

  it('sets no set-user-ID and set-group-ID bits, and keeps those of a directory', async () => {
    chmodSync(join(root, 'src'), 0o2755);
    chmodSync(join(root, 'a.txt'), 0o4755);
    const changes: PathChange[] = [
      { path: '/a.txt', before: file('one\n', 0o4755), after: file('ONE\n') },
      { path: '/new', after: file('new', 0o6755) },
      { path: '/dir', after: { kind: 'directory', mode: 0o2777 } },
      { path: '/src', before: directory, after: { kind: 'directory', mode: 0o700 } },
    ];
    expect(await applyChanges(changes, root)).toMatchObject({ success: true });
    const modes = ['a.txt', 'new', 'dir', 'src'].map((name) => statSync(join(root, name)).mode & 0o7777);
    expect(modes).toEqual([0o755, 0o755, 0o777, 0o2700]);
    expect((await applyChanges(changes, root)).applied).toEqual([]);
  });

  it('refuses a journal that no call has left', async () => {
    mkdirSync(join(root, '.scratchfs-tmp-journal'));
    writeFileSync(join(root, '.scratchfs-tmp-journal/steps'), '{}');
    await expect(applyChanges([{ path: '/x', after: file('') }], root)).rejects.toThrow(/remove it/);
    expect(existsSync(join(root, 'x'))).toBe(false);
  });
});
